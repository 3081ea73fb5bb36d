import { z } from "zod";
import type { Call, PlatformAdapter, PlatformResponse, Profile } from "../adapter.ts";
import { bodyAs, retryAfterSeconds, timeAt } from "../answers.ts";
import { PlatformError } from "../platform-error.ts";
import type { PlatformErrorKind } from "../platform-error.ts";

export interface LinkedInSettings {
  authUrl: string;
  tokenUrl: string;
  userinfoUrl: string;
  profileUrl: string;
  ugcUrl: string;
  /** Where people look at posts. */
  webUrl: string;
  clientId: string;
  clientSecret: string;
  /** For how long a repeat is sure to be refused, and so may be sent to find out about a lost answer. */
  refusesRepeatsForMs: number;
  scopes?: readonly string[];
}

const word = z.string().min(1);
const perhaps = word.nullable().catch(null);

const userinfo = z
  .object({ sub: word, name: perhaps, picture: perhaps })
  .transform(({ sub, name, picture }) => ({
    accountId: sub,
    displayName: name ?? sub,
    username: null,
    avatarUrl: picture,
    authorUrn: `urn:li:person:${sub}`,
  }));
const me = z
  .object({
    id: word,
    localizedFirstName: perhaps,
    localizedLastName: perhaps,
    vanityName: perhaps,
  })
  .transform(({ id, localizedFirstName, localizedLastName, vanityName }) => ({
    accountId: id,
    displayName: [localizedFirstName, localizedLastName].filter(Boolean).join(" ") || id,
    username: vanityName,
    avatarUrl: null,
    authorUrn: `urn:li:person:${id}`,
  }));
const created = z.object({ id: word });
const refusal = z.object({ message: word });

const postUrn = /^urn:li:(?:share|ugcPost|activity):\d+$/;
const duplicateOf = /\bduplicate of (urn:li:(?:share|ugcPost|activity):\d+)/i;
const maxMessageLength = 300;

const kinds: Record<number, PlatformErrorKind> = {
  401: "reconnect",
  403: "reconnect",
  409: "retry",
  429: "retry",
};

/**
 * A 4xx says that the post was refused. All the rest is in doubt: a 5xx may come after the post was taken, a redirect
 * is also how a server says "done, look there", a 408 how a proxy says that LinkedIn did not answer it.
 */
function kindOf(status: number): PlatformErrorKind | undefined {
  const isRefusal = status >= 400 && status < 500 && status !== 408;
  return kinds[status] ?? (isRefusal ? "rejected" : undefined);
}

/** Day quotas end at midnight UTC, and LinkedIn does not promise to say so. */
function waitSeconds(response: PlatformResponse): number {
  const secondsOfToday = Math.floor(timeAt(response) / 1_000) % 86_400;
  return retryAfterSeconds(response) ?? 86_400 - secondsOfToday;
}

/** What is in doubt depends on the call: reading again does no harm, publishing again may. */
function failureOf(response: PlatformResponse, inDoubt: "retry" | "unknown"): PlatformError {
  const { status, body } = response;
  const { message } = bodyAs(refusal, response) ?? { message: "" };
  const remoteId = status === 422 ? duplicateOf.exec(message)?.[1] : undefined;
  const kind = remoteId ? "duplicate" : (kindOf(status) ?? inDoubt);
  const said = message && `: ${message.slice(0, maxMessageLength)}`;
  return new PlatformError(kind, `LinkedIn answered ${status}${said}`, {
    upstreamStatus: status,
    upstreamBody: body,
    ...(remoteId && { remoteId }),
    ...(status === 429 && { retryAfterSeconds: waitSeconds(response) }),
  });
}

const ugcPost = (author: string | null, text: string) => ({
  author,
  lifecycleState: "PUBLISHED",
  specificContent: {
    "com.linkedin.ugc.ShareContent": { shareCommentary: { text }, shareMediaCategory: "NONE" },
  },
  visibility: { "com.linkedin.ugc.MemberNetworkVisibility": "PUBLIC" },
});

export function linkedin(settings: LinkedInSettings): PlatformAdapter {
  const permalink = (remoteId: string): string | null =>
    postUrn.test(remoteId) ? `${settings.webUrl}/feed/update/${remoteId}/` : null;

  async function profile(call: Call): Promise<Profile> {
    const first = await call.send({ method: "GET", url: settings.userinfoUrl });
    const found = first.status === 200 && bodyAs(userinfo, first);
    if (found) return found;
    if ([401, 429].includes(first.status)) throw failureOf(first, "retry");
    const second = await call.send({ method: "GET", url: settings.profileUrl });
    const fallback = second.status === 200 && bodyAs(me, second);
    if (fallback) return fallback;
    // Few tokens may read the second address, so of its refusals only a 401 says more than the first.
    throw failureOf(second.status === 401 ? second : first, "retry");
  }

  return {
    name: "linkedin",
    aliases: ["network"],
    accepts: { text: { max: 3_000, unit: "utf16" }, kinds: ["text"], maxImages: 0 },
    oauth: {
      authorizeUrl: settings.authUrl,
      tokenUrl: settings.tokenUrl,
      clientId: settings.clientId,
      clientSecret: settings.clientSecret,
      scopes: settings.scopes ?? ["w_member_social", "openid", "profile"],
      scopeSeparator: " ",
      usesPkce: false,
      clientAuth: "form",
    },
    refusesRepeatsForMs: settings.refusesRepeatsForMs,
    permalink,
    profile,
    async publish({ text }, call) {
      const author = call.account?.authorUrn ?? (await profile(call)).authorUrn;
      const response = await call.send({
        method: "POST",
        url: settings.ugcUrl,
        headers: { "x-restli-protocol-version": "2.0.0" },
        json: ugcPost(author, text),
      });
      const id = response.headers["x-restli-id"] || bodyAs(created, response)?.id;
      // Anybody on the way may answer 200 with a page; a 201, or the name of a post, comes from LinkedIn.
      if (response.status === 201 || (response.status === 200 && id)) {
        return { remoteId: id || null, url: id ? permalink(id) : null };
      }
      throw failureOf(response, "unknown");
    },
  };
}
