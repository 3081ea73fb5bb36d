import { createHash } from "node:crypto";
import type { Call } from "../call.ts";
import type { Decision, Frame } from "../service.ts";
import { apiCall } from "./linkedin-api.ts";
import type { Caller } from "./linkedin-api.ts";
import { personUrn } from "./linkedin-people.ts";
import { accessDenied, apiRefusal } from "./linkedin-refusals.ts";
import { settingsOf } from "./linkedin-settings.ts";
import type { LinkedIn, Post } from "./linkedin-state.ts";
import { readUgcPost } from "./linkedin-ugc-body.ts";
import type { UgcPost } from "./linkedin-ugc-body.ts";

const duplicateWindowMs = 10 * 60 * 1000;

export function ugcRoutes({ app, operation, read }: Frame, linkedin: LinkedIn): void {
  const nextUrn = urnsAfter(Array.from(linkedin.posts.values()).length);
  app.post(
    "/v2/ugcPosts",
    operation(
      "linkedin.ugcPosts.create",
      apiCall(linkedin, { name: "ugcPosts.CREATE", scope: "w_member_social" }, (call, caller) => {
        countCall(linkedin, caller);
        return create(linkedin, nextUrn, call, caller);
      }),
    ),
  );
  // A member's own posts cannot be read back: no app has the scope.
  const closed = apiCall(linkedin, { name: "ugcPosts.GET", scope: "r_member_social" }, () => {
    throw apiRefusal(404, "Could not find entity", { code: "NOT_FOUND" });
  });
  app.get("/v2/ugcPosts", read("linkedin.ugcPosts.get", closed));
  app.get("/v2/ugcPosts/:urn", read("linkedin.ugcPosts.get", closed));
}

/** LinkedIn hands out both kinds, with ids that begin with the time. */
function urnsAfter(count: number): (now: number) => string {
  let posts = count;
  return (now) => {
    const kind = posts % 2 === 0 ? "share" : "ugcPost";
    const id = (BigInt(now) << 22n) | BigInt.asUintN(22, BigInt(posts++));
    return `urn:li:${kind}:${id}`;
  };
}

function create(
  linkedin: LinkedIn,
  nextUrn: (now: number) => string,
  call: Call,
  { member }: Caller,
): Decision {
  const ugcPost = readUgcPost(call);
  if (ugcPost.author !== personUrn(member.id)) {
    throw accessDenied(
      "Field Value validation failed in REQUEST_BODY: Data Processing Exception while processing fields [/author]",
    );
  }
  const createdAt = linkedin.now();
  const fingerprint = fingerprintOf(ugcPost);
  const original = linkedin.originals.get(fingerprint);
  const isRepeat = original && createdAt < original.createdAt + duplicateWindowMs;
  if (isRepeat && settingsOf(linkedin).refusesDuplicates) {
    throw apiRefusal(422, `Content is a duplicate of ${original.urn}`, { code: "DUPLICATE_POST" });
  }
  const urn = nextUrn(createdAt);
  linkedin.posts.set(urn, { ...postOf(ugcPost), urn, memberId: member.id, createdAt });
  linkedin.originals.set(fingerprint, { urn, createdAt });
  return {
    accepted: true,
    status: 201,
    headers: { "x-restli-id": urn, "x-restli-protocol-version": "2.0.0" },
    body: { id: urn },
    remoteId: urn,
  };
}

function postOf({
  specificContent,
  visibility,
}: UgcPost): Omit<Post, "urn" | "memberId" | "createdAt"> {
  const content = specificContent["com.linkedin.ugc.ShareContent"];
  return {
    text: content.shareCommentary.text,
    visibility: visibility["com.linkedin.ugc.MemberNetworkVisibility"],
    ...(content.shareMediaCategory === "ARTICLE" && { articleUrl: content.media[0].originalUrl }),
  };
}

/** The same author and the same content, whoever may see it. */
function fingerprintOf({ author, specificContent }: UgcPost): string {
  const content = JSON.stringify(specificContent);
  return createHash("sha256").update(`${author}\n${content}`).digest("base64url");
}

/** Refused calls count too, except those that the limit itself refuses. Days are UTC. */
function countCall(linkedin: LinkedIn, { member, token }: Caller): void {
  const { memberDailyLimit, appDailyLimit } = settingsOf(linkedin);
  const day = new Date(linkedin.now()).toISOString().slice(0, 10);
  const counts = [
    { level: "MEMBER", id: `member ${member.id}`, limit: memberDailyLimit },
    { level: "APPLICATION", id: `app ${token.clientId}`, limit: appDailyLimit },
  ].map((count) => {
    const used = linkedin.usage.get(count.id);
    return { ...count, calls: used?.day === day ? used.calls : 0 };
  });
  const reached = counts.find(({ calls, limit }) => calls >= limit);
  if (reached) {
    const message = `Resource level throttle ${reached.level} DAY limit for calls to this resource is reached.`;
    throw apiRefusal(429, message, { code: "TOO_MANY_REQUESTS", serviceErrorCode: 101 });
  }
  for (const { id, calls } of counts) linkedin.usage.set(id, { day, calls: calls + 1 });
}
