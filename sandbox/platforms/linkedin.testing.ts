import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Sandbox } from "../app.ts";
import { postJson, testSandbox } from "../testing.ts";
import { linkedin } from "./linkedin.ts";

export const redirectUri = "http://localhost:3000/functions/networkAuthCallback";
export const ada = "Ada1815_Lv";
export const grace = "Grace1906H";
export const minuteMs = 60 * 1000;
export const dayMs = 24 * 60 * minuteMs;

export const start = (t: TestContext): Promise<Sandbox> => testSandbox(t, [linkedin]);

/** What the app asks a member for. */
export function askQuery(changes: Record<string, string | undefined> = {}): URLSearchParams {
  const ask = {
    response_type: "code",
    client_id: "sandbox-linkedin",
    redirect_uri: redirectUri,
    state: "s1",
    scope: "w_member_social openid profile",
    ...changes,
  };
  return new URLSearchParams(
    Object.entries(ask).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

export function authorize(
  sandbox: Sandbox,
  ask: Record<string, string | undefined> = {},
  init: RequestInit = {},
): Promise<Response> {
  const url = `${sandbox.url}/linkedin/oauth/v2/authorization?${askQuery(ask).toString()}`;
  return fetch(url, { redirect: "manual", ...init });
}

export const consent = (decision: string, member: string): RequestInit => ({
  method: "POST",
  body: new URLSearchParams({ decision, member }),
});

export function locationOf(response: Response): URL {
  assert.equal(response.status, 302);
  return new URL(response.headers.get("location") ?? "");
}

export async function codeOf(
  sandbox: Sandbox,
  { member = ada, ...ask }: Record<string, string> = {},
): Promise<string> {
  const response = await authorize(sandbox, ask, consent("allow", member));
  return locationOf(response).searchParams.get("code") ?? "";
}

export function oauth(
  sandbox: Sandbox,
  path: "accessToken" | "introspectToken" | "revoke",
  changes: Record<string, string | undefined>,
): Promise<Response> {
  const clientId = changes["client_id"] ?? "sandbox-linkedin";
  const form = { client_secret: `${clientId}-secret`, ...changes, client_id: clientId };
  const given = Object.entries(form).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return fetch(`${sandbox.url}/linkedin/oauth/v2/${path}`, {
    method: "POST",
    body: new URLSearchParams(given),
  });
}

export function redeem(
  sandbox: Sandbox,
  changes: Record<string, string | undefined>,
): Promise<Response> {
  const form = { grant_type: "authorization_code", redirect_uri: redirectUri };
  return oauth(sandbox, "accessToken", { ...form, ...changes });
}

export interface TokenAnswer {
  access_token: string;
  expires_in: number;
  refresh_token?: string;
  refresh_token_expires_in?: number;
  scope: string;
  token_type: string;
}

/** The whole way from the consent form to a token. */
export async function connect(
  sandbox: Sandbox,
  ask: Record<string, string> = {},
): Promise<TokenAnswer> {
  const code = await codeOf(sandbox, ask);
  const response = await redeem(sandbox, { code, client_id: ask["client_id"] });
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as TokenAnswer;
}

export async function connected(t: TestContext): Promise<{ sandbox: Sandbox; token: string }> {
  const sandbox = await start(t);
  return { sandbox, token: (await connect(sandbox)).access_token };
}

export const creating = "linkedin.ugcPosts.create";

/** The posts that exist, as the journal has them. */
export function acceptedUrns(sandbox: Sandbox): (string | undefined)[] {
  return sandbox.journal
    .find({ operation: creating, accepted: true })
    .entries.map(({ outcome }) => outcome.remoteId);
}

export function get(sandbox: Sandbox, path: string, token: string): Promise<Response> {
  return fetch(`${sandbox.url}/linkedin${path}`, { headers: { authorization: `Bearer ${token}` } });
}

export function ugcPost(text: string, author: string = ada) {
  return {
    author: `urn:li:person:${author}`,
    lifecycleState: "PUBLISHED",
    specificContent: {
      "com.linkedin.ugc.ShareContent": {
        shareCommentary: { text },
        shareMediaCategory: "NONE",
      },
    },
    visibility: { "com.linkedin.ugc.MemberNetworkVisibility": "PUBLIC" },
  };
}

export function publish(
  sandbox: Sandbox,
  token: string,
  body: unknown,
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${sandbox.url}/linkedin/v2/ugcPosts`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-restli-protocol-version": "2.0.0",
      ...init.headers,
    },
    body: JSON.stringify(body),
    ...(init.signal && { signal: init.signal }),
  });
}

/** The urn of a post that must have been taken. */
export async function publishedUrn(response: Response): Promise<string> {
  assert.equal(response.status, 201, await response.clone().text());
  return response.headers.get("x-restli-id") ?? "";
}

export async function advance(sandbox: Sandbox, advanceMs: number): Promise<void> {
  const response = await postJson(`${sandbox.url}/_sandbox/clock`, { advanceMs });
  assert.equal(response.status, 200);
}

export async function set(sandbox: Sandbox, settings: object): Promise<void> {
  const response = await postJson(`${sandbox.url}/linkedin/_control`, settings);
  assert.equal(response.status, 200, await response.clone().text());
}
