import { randomBytes } from "node:crypto";
import type { Call } from "../call.ts";
import type { Decision, Frame } from "../service.ts";
import { appOf } from "./linkedin-apps.ts";
import type { App } from "./linkedin-apps.ts";
import { consentPage, problemPage } from "./linkedin-pages.ts";
import { memberOf, personUrn } from "./linkedin-people.ts";
import { Refusal, refusing } from "./linkedin-refusals.ts";
import { settingsOf } from "./linkedin-settings.ts";
import { grantId, scopeSet } from "./linkedin-state.ts";
import type { LinkedIn } from "./linkedin-state.ts";

const codeLifeMs = 30 * 60 * 1000;
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);
const memberCookie = "sandbox_linkedin_member";

const cancellations: Record<string, string> = {
  cancel: "user_cancelled_authorize",
  "cancel-login": "user_cancelled_login",
};

/** What the app asks for, once it is known who asks and where the answer may go. */
interface Ask {
  app: App;
  redirectUri: string;
  state: string | null;
  scopes: string[];
}

export function authorizeRoutes({ app, operation }: Frame, linkedin: LinkedIn): void {
  app.get(
    "/oauth/v2/authorization",
    operation(
      "linkedin.authorize",
      refusing((call) => {
        const ask = readAsk(linkedin, call.query);
        const signedIn = memberIn(call.headers.cookie);
        // LinkedIn also skips the screen without `prompt=none`; here a person may want to be another member.
        if (call.query.get("prompt") === "none" && signedIn && isAllowed(linkedin, ask, signedIn)) {
          return allow(linkedin, ask, signedIn);
        }
        return { accepted: false, ...consentPage({ ...ask, selectedId: signedIn }) };
      }),
    ),
  );
  app.post(
    "/oauth/v2/authorization",
    operation(
      "linkedin.authorize",
      refusing((call) => decideConsent(linkedin, call)),
    ),
  );
}

function decideConsent(linkedin: LinkedIn, call: Call): Decision {
  const ask = readAsk(linkedin, call.query);
  const form = call.form();
  const cancellation = cancellations[form.get("decision") ?? ""];
  if (cancellation) {
    throw sentBack(ask, { error: cancellation, description: "The member refused the request" });
  }
  const member = memberOf(form.get("member") ?? "");
  if (form.get("decision") !== "allow" || !member) {
    throw new Refusal(problemPage(400, "Choose a member, and Allow or Cancel."));
  }
  return allow(linkedin, ask, member.id);
}

/** Who asks and where to answer comes first: until that is certain, nobody may be sent anywhere. */
function readAsk(linkedin: LinkedIn, query: URLSearchParams): Ask {
  const app = appOf(required(query, "client_id"));
  if (!app) throw new Refusal(problemPage(400, "The passed in client_id is invalid"));
  const redirectUri = required(query, "redirect_uri");
  if (!isRegistered(redirectUri, settingsOf(linkedin).redirectUris)) {
    throw new Refusal(problemPage(400, "The redirect_uri does not match the registered value"));
  }

  const scopes = (query.get("scope") ?? "").split(" ").filter(Boolean);
  const ask = { app, redirectUri, state: query.get("state"), scopes };
  if (query.get("response_type") !== "code") {
    throw sentBack(ask, {
      error: "unsupported_response_type",
      description: 'The parameter "response_type" must be "code"',
    });
  }
  if (scopes.length === 0) {
    const description = 'A required parameter "scope" is missing';
    throw sentBack(ask, { error: "invalid_request", description });
  }
  const unknown = scopes.find((scope) => !app.scopes.has(scope));
  if (unknown !== undefined) {
    const description = `Scope "${unknown}" is not authorized for your application`;
    throw sentBack(ask, { error: "unauthorized_scope_error", description });
  }
  return ask;
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (!value) throw new Refusal(problemPage(400, `A required parameter "${name}" is missing`));
  return value;
}

function isRegistered(redirectUri: string, registered: readonly string[]): boolean {
  if (registered.length > 0) return registered.includes(redirectUri);
  const url = URL.parse(redirectUri);
  if (!url || redirectUri.includes("#")) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && loopback.has(url.hostname));
}

function isAllowed(linkedin: LinkedIn, { app, scopes }: Ask, memberId: string): boolean {
  const grant = linkedin.grants.get(grantId({ clientId: app.clientId, memberId }));
  return grant?.scope === scopeSet(scopes);
}

function allow(linkedin: LinkedIn, ask: Ask, memberId: string): Decision {
  const code = `AQ${randomBytes(96).toString("base64url")}`;
  linkedin.codes.set(code, {
    clientId: ask.app.clientId,
    memberId,
    redirectUri: ask.redirectUri,
    scope: scopeSet(ask.scopes),
    expiresAt: linkedin.now() + codeLifeMs,
  });
  return {
    accepted: true,
    status: 302,
    headers: {
      location: answerAddress(ask, { code }),
      "set-cookie": `${memberCookie}=${memberId}; Path=/linkedin; HttpOnly; SameSite=Lax`,
    },
    remoteId: personUrn(memberId),
  };
}

function sentBack(
  ask: Pick<Ask, "redirectUri" | "state">,
  { error, description }: { error: string; description: string },
): Refusal {
  const location = answerAddress(ask, { error, error_description: description });
  return new Refusal({ status: 302, headers: { location } });
}

function answerAddress(
  { redirectUri, state }: Pick<Ask, "redirectUri" | "state">,
  answer: Record<string, string>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.append(name, value);
  if (state !== null) url.searchParams.append("state", state);
  return url.href;
}

/** The member that this browser last was. */
function memberIn(cookies: string | undefined): string | undefined {
  const pairs = (cookies ?? "").split(";").map((pair) => pair.trim().split("="));
  const id = pairs.find(([name]) => name === memberCookie)?.[1];
  return id === undefined ? undefined : memberOf(id)?.id;
}
