import assert from "node:assert/strict";
import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { Browser, goodReply, json, stateIn, testConnections } from "./connections.testing.ts";
import { tokenPlace } from "./queries.ts";

const { app, db, owner, deps, config, platform } = await testConnections();
const { token: answerTokens, me: answerMe } = platform;
const returnTo = "/settings?tab=accounts#list";

async function person(
  start = "networkAuthStart",
  query = `?returnTo=${encodeURIComponent(returnTo)}`,
) {
  const browser = new Browser(app);
  const user = await browser.signUp(config.urls.web);
  const state = stateIn(await browser.ask(`/functions/${start}${query}`));
  platform.journal.length = 0;
  platform.token = answerTokens;
  platform.me = answerMe;
  return { browser, ...user, state };
}

const accounts = async (userId: string) =>
  (await db.query("select * from connected_accounts where user_id = $1", [userId])).rows;

async function audited(userId: string): Promise<string[]> {
  const { rows } = await db.query<{ action: string; subject: string }>(
    "select action, subject from audit_log where actor = $1 and action like 'account%' order by id",
    [userId],
  );
  return rows.map(({ action, subject }) => `${action} ${subject}`);
}

for (const name of ["network", "linkedin"]) {
  test(`${name}AuthCallback exchanges the code, stores the account sealed and goes back`, async () => {
    const { browser, userId, state } = await person(`${name}AuthStart`);
    const before = Date.now();
    const url = `/functions/${name}AuthCallback?code=the-code&state=${state}`;
    const answer = await browser.ask(url);
    assert.equal(answer.statusCode, 302, answer.body);
    assert.equal(
      answer.headers.location,
      "http://localhost:3000/settings?tab=accounts&network=connected#list",
    );
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.deepEqual(platform.tokenForms(), [
      {
        grant_type: "authorization_code",
        code: "the-code",
        redirect_uri: "http://localhost:3000/functions/networkAuthCallback",
        client_id: "client id",
        client_secret: "s&cret:1",
      },
    ]);
    assert.equal(platform.journal[1]?.headers.authorization, "Bearer access-1");

    const [account, ...others] = await accounts(userId);
    assert.equal(others.length, 0);
    const { access_token, expires_at, ...facts } = account;
    const key = { userId, platform: "linkedin", accountId: "person-1" } as const;
    assert.equal(deps.sealer.open(access_token, tokenPlace(key, "access_token")), "access-1");
    assert.ok(Math.abs(expires_at.getTime() - before - 5_184_000_000) < 10_000);
    assert.equal(facts.platform, "linkedin");
    assert.equal(facts.account_id, "person-1");
    assert.equal(facts.token_type, "bearer");
    assert.equal(facts.scope, goodReply.scope);
    assert.equal(facts.expires_in, 5_184_000);
    assert.equal(facts.refresh_token, null);
    assert.equal(facts.display_name, "Ada");
    assert.equal(facts.author_urn, "urn:li:person:person-1");
    assert.equal(facts.status, "active");
    assert.deepEqual(await audited(userId), ["account.connect linkedin/person-1"]);
  });
}

test("a platform that wants it gets the client by header, the verifier, and its own outcome", async () => {
  const { browser, userId, state } = await person("twitterAuthStart");
  platform.token = (_asked, response) =>
    json(response, 200, {
      access_token: "a",
      token_type: "bearer",
      expires_in: 7_200,
      refresh_token: "r",
      refresh_expires_in: 100_000,
    });
  const answer = await browser.ask(`/functions/twitterAuthCallback?code=c&state=${state}`);
  assert.equal(
    answer.headers.location,
    "http://localhost:3000/settings?tab=accounts&twitter=connected#list",
  );
  const [asked] = platform.journal;
  const credentials = Buffer.from("client+id:s%26cret%3A1").toString("base64");
  assert.equal(asked?.headers.authorization, `Basic ${credentials}`);
  assert.deepEqual([...(asked?.form.keys() ?? [])].sort(), [
    "code",
    "code_verifier",
    "grant_type",
    "redirect_uri",
  ]);
  const [account] = await accounts(userId);
  const key = { userId, platform: "twitter", accountId: "person-1" } as const;
  assert.equal(deps.sealer.open(account.refresh_token, tokenPlace(key, "refresh_token")), "r");
  assert.equal(account.refresh_expires_at - account.expires_at, (100_000 - 7_200) * 1_000);
  // RFC 6749, 5.1: a reply without a scope grants what was asked for.
  assert.equal(account.scope, "w_member_social openid profile");
});

test("connecting again replaces the tokens and keeps what the user has set", async () => {
  const { browser, userId, state } = await person();
  await browser.ask(`/functions/networkAuthCallback?code=c&state=${state}`);
  await db.query(
    "update connected_accounts set enabled_for_repost = true, status = 'needs_reconnect' where user_id = $1",
    [userId],
  );
  const [first] = await accounts(userId);
  const again = stateIn(await browser.ask("/functions/networkAuthStart"));
  platform.token = (_asked, response) =>
    json(response, 200, { ...goodReply, access_token: "access-2" });
  await browser.ask(`/functions/networkAuthCallback?code=c&state=${again}`);
  const [second, ...others] = await accounts(userId);
  assert.equal(others.length, 0);
  assert.equal(second.status, "active");
  assert.equal(second.enabled_for_repost, true);
  assert.notEqual(second.token_version, first.token_version);
  const key = { userId, platform: "linkedin", accountId: "person-1" } as const;
  assert.equal(deps.sealer.open(second.access_token, tokenPlace(key, "access_token")), "access-2");
});

test("the same platform account may be connected by two users, each with tokens of their own", async () => {
  const one = await person();
  await one.browser.ask(`/functions/networkAuthCallback?code=c&state=${one.state}`);
  const other = await person();
  platform.token = (_asked, response) =>
    json(response, 200, { ...goodReply, access_token: "of the other".replaceAll(" ", "-") });
  await other.browser.ask(`/functions/networkAuthCallback?code=c&state=${other.state}`);
  const read = async (userId: string): Promise<string> => {
    const [account] = await accounts(userId);
    const key = { userId, platform: "linkedin", accountId: "person-1" } as const;
    return deps.sealer.open(account.access_token, tokenPlace(key, "access_token"));
  };
  assert.equal(await read(one.userId), "access-1");
  assert.equal(await read(other.userId), "of-the-other");
  await app.inject({
    method: "DELETE",
    url: "/api/v1/accounts/linkedin/person-1",
    headers: { authorization: `Bearer ${one.token}` },
  });
  assert.equal((await accounts(one.userId)).length, 0);
  assert.equal((await accounts(other.userId)).length, 1);
});

async function refused(browser: Browser, url: string): Promise<void> {
  const answer = await browser.ask(url);
  assert.equal(answer.statusCode, 400, url);
  assert.equal(answer.json<{ error: { code: string } }>().error.code, "invalid_state");
}

test("a state that is missing, unknown, of another platform, used or expired is 400 invalid_state", async () => {
  const { browser, userId, state } = await person();
  for (const query of ["", "?code=c", "?code=c&state=", "?code=c&state=unknown", "?error=x"]) {
    await refused(browser, `/functions/networkAuthCallback${query}`);
  }
  await refused(browser, `/functions/networkAuthCallback?code=c&state=${hash("sha256", state)}`);
  await refused(browser, `/functions/twitterAuthCallback?code=c&state=${state}`);
  assert.equal(platform.journal.length, 0);
  await owner.query(
    "update connection_states set created_at = now() - interval '10 minutes 1 second' where uid = $1",
    [userId],
  );
  await refused(browser, `/functions/networkAuthCallback?code=c&state=${state}`);
  await owner.query("update connection_states set created_at = now() where uid = $1", [userId]);
  const done = await browser.ask(`/functions/networkAuthCallback?code=c&state=${state}`);
  assert.equal(done.statusCode, 302);
  await refused(browser, `/functions/networkAuthCallback?code=c&state=${state}`);
  assert.equal(platform.tokenForms().length, 1);
});

test("a state that comes twenty times at once is used once", async () => {
  const { browser, userId, state } = await person();
  const url = `/functions/networkAuthCallback?code=c&state=${state}`;
  const answers = await Promise.all(Array.from({ length: 20 }, async () => await browser.ask(url)));
  const statuses = answers.map((answer) => answer.statusCode).sort();
  assert.deepEqual(statuses, [302, ...Array.from({ length: 19 }, () => 400)]);
  assert.equal(platform.tokenForms().length, 1);
  assert.equal((await accounts(userId)).length, 1);
});

const say =
  (status: number, body: string) =>
  (_asked: unknown, response: ServerResponse): unknown =>
    response.writeHead(status, { "content-type": "application/json" }).end(body);

test("bearer is bearer in any case, and may be left out", async () => {
  for (const token_type of ["BEARER", "bearer", undefined]) {
    const { browser, state } = await person();
    platform.token = say(200, JSON.stringify({ ...goodReply, token_type }));
    const answer = await browser.ask(`/functions/networkAuthCallback?code=c&state=${state}`);
    assert.match(String(answer.headers.location), /network=connected/);
  }
});

test("a name that can't be stored as it is does not cost the connection", async () => {
  const { browser, userId, state } = await person();
  const name = `\0A\ud800${"x".repeat(500)}`;
  platform.me = say(200, JSON.stringify({ id: "odd", name, handle: name }));
  const answer = await browser.ask(`/functions/networkAuthCallback?code=c&state=${state}`);
  assert.match(String(answer.headers.location), /network=connected/);
  assert.match((await accounts(userId))[0].display_name, /^A\ufffdx{198}$/);
});

test("without returnTo the outcome is a small page without script", async () => {
  const { browser, state } = await person("networkAuthStart", "");
  const done = await browser.ask(`/functions/networkAuthCallback?code=c&state=${state}`);
  assert.equal(done.statusCode, 200);
  assert.match(done.body, /Your linkedin account is connected/);
  const failed = await person("networkAuthStart", "");
  const answer = await failed.browser.ask(
    `/functions/networkAuthCallback?error=access_denied&error_description=%3Cb%3E&state=${failed.state}`,
  );
  assert.match(answer.body, /You did not allow the connection/);
  for (const { headers, body } of [done, answer]) {
    assert.match(String(headers["content-type"]), /^text\/html/);
    assert.doesNotMatch(body, /<script|<b>/);
    const style = /<style>([^]*)<\/style>/.exec(body)?.[1] ?? "";
    const policy = String(headers["content-security-policy"]);
    assert.ok(policy.includes(`style-src 'sha256-${hash("sha256", style, "base64")}'`));
    assert.match(policy, /default-src 'none'; .*form-action 'none'; frame-ancestors 'none'/);
    assert.equal(headers["x-frame-options"], "DENY");
  }
});
