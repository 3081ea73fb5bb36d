import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { Browser, goodReply, stateIn, testConnections } from "./connections.testing.ts";

const { app, db, config, platform } = await testConnections();
const { token: answerTokens } = platform;
const browser = new Browser(app);
await browser.signUp(config.urls.web);

/** Goes through a connection that fails, and returns the reason that the user is sent back with. */
async function reasonOf(query = "code=c"): Promise<string | null> {
  const returnTo = encodeURIComponent("/settings?tab=accounts#list");
  const state = stateIn(await browser.ask(`/functions/networkAuthStart?returnTo=${returnTo}`));
  const answer = await browser.ask(`/functions/networkAuthCallback?${query}&state=${state}`);
  assert.equal(answer.statusCode, 302, answer.body);
  const { origin, searchParams, hash } = new URL(String(answer.headers.location));
  assert.deepEqual([origin, hash], ["http://localhost:3000", "#list"]);
  assert.deepEqual([...searchParams.keys()], ["tab", "network", "reason"]);
  assert.equal(searchParams.get("network"), "error");
  const { rows } = await db.query(
    `select from connected_accounts union all select from connection_states
     union all select from audit_log where action like 'account%'`,
  );
  assert.equal(rows.length, 0, "nothing is left of it");
  return searchParams.get("reason");
}

const say =
  (status: number, body: string) =>
  (_asked: unknown, response: ServerResponse): unknown =>
    response.writeHead(status, { "content-type": "application/json" }).end(body);

const badReplies: Record<string, string> = {
  "no token": JSON.stringify({ ...goodReply, access_token: undefined }),
  "an empty token": JSON.stringify({ ...goodReply, access_token: "" }),
  "a token that is a number": JSON.stringify({ ...goodReply, access_token: 1 }),
  "a token over 4 KB": JSON.stringify({ ...goodReply, access_token: "x".repeat(4_097) }),
  "a token with a line break": JSON.stringify({ ...goodReply, access_token: "a\r\nx: y" }),
  "another kind of token": JSON.stringify({ ...goodReply, token_type: "mac" }),
  "no expires_in": JSON.stringify({ ...goodReply, expires_in: undefined }),
  "expires_in -1": JSON.stringify({ ...goodReply, expires_in: -1 }),
  "expires_in 0": JSON.stringify({ ...goodReply, expires_in: 0 }),
  "expires_in 1e12": JSON.stringify({ ...goodReply, expires_in: 1e12 }),
  "expires_in null": JSON.stringify({ ...goodReply, expires_in: null }),
  "expires_in as text": JSON.stringify({ ...goodReply, expires_in: "3600" }),
  "a refresh token that is an object": JSON.stringify({ ...goodReply, refresh_token: {} }),
  "a refresh token without an end in sight": JSON.stringify({
    ...goodReply,
    refresh_expires_in: 1e15,
  }),
  "an error with status 200": JSON.stringify({ error: "invalid_grant" }),
  "a list": "[]",
  null: "null",
  nothing: "",
  HTML: "<html>sorry</html>",
  "half a reply": JSON.stringify(goodReply).slice(0, 40),
  "a reply without end": JSON.stringify({ ...goodReply, padding: "x".repeat(70_000) }),
};

for (const [what, body] of Object.entries(badReplies)) {
  test(`${what} from the token address is a clean failure and no half account`, async () => {
    platform.token = say(200, body);
    assert.equal(await reasonOf(), "token_exchange_failed");
  });
}

test("a refusal, a breakdown, a redirect and a lost connection at the token address are clean failures", async () => {
  const secret = "upstream says: your secret is hunter2";
  for (const status of [302, 400, 401, 403, 429, 500, 503]) {
    platform.token = say(status, JSON.stringify({ error: "invalid_client", message: secret }));
    assert.equal(await reasonOf(), "token_exchange_failed", String(status));
  }
  platform.token = (_asked, response) => response.destroy();
  assert.equal(await reasonOf(), "token_exchange_failed");
});

test("a profile that can't be read or used is a clean failure and no half account", async () => {
  const bodies = [
    say(500, "{}"),
    say(200, JSON.stringify({ id: "", name: "x", handle: "x" })),
    say(200, JSON.stringify({ id: "a b", name: "x", handle: "x" })),
    say(200, JSON.stringify({ id: "x".repeat(201), name: "x", handle: "x" })),
    say(200, JSON.stringify({ id: 7, name: "x", handle: "x" })),
    say(200, JSON.stringify({ id: "1", name: { a: 1 }, handle: "x" })),
    (_asked: unknown, response: ServerResponse) => response.destroy(),
  ];
  platform.token = answerTokens;
  for (const me of bodies) {
    platform.me = me;
    assert.equal(await reasonOf(), "profile_failed");
  }
});

test("a user who cancels, and a platform that can't, come back with a reason of ours", async () => {
  platform.journal.length = 0;
  for (const error of ["access_denied", "user_cancelled_login", "user_cancelled_authorize"]) {
    assert.equal(await reasonOf(`error=${error}&error_description=evil`), "access_denied");
  }
  for (const query of [
    "error=server_error",
    "error=%3Cscript%3E",
    "error=",
    "x=1",
    "code=c&error=a",
  ]) {
    assert.equal(await reasonOf(query), "platform_error", query);
  }
  assert.equal(platform.journal.length, 0);
});
