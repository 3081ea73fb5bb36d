import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import type { LightMyRequestResponse } from "fastify";
import { Browser, stateIn, testConnections } from "./connections.testing.ts";

const { app, db, deps, config, platform } = await testConnections();
const { web, functions } = config.urls;
const { origin } = new URL(functions);
const type = "application/x-www-form-urlencoded";

/** Somebody starts a connection; the address they would come back to can be opened by anybody. */
async function started(query = "?returnTo=/settings", name = "network") {
  const browser = new Browser(app);
  const user = await browser.signUp(web);
  const state = stateIn(await browser.ask(`/functions/${name}AuthStart${query}`));
  platform.journal.length = 0;
  return { browser, ...user, url: `/functions/${name}AuthCallback?code=c&state=${state}` };
}

async function isConnected(userId: string): Promise<boolean> {
  const { rowCount } = await db.query("select from connected_accounts where user_id = $1", [
    userId,
  ]);
  return rowCount === 1;
}

function tokenIn({ body, statusCode }: LightMyRequestResponse): string {
  assert.equal(statusCode, 200, body);
  return /name="token" value="([\w-]{43})"/.exec(body)?.[1] ?? assert.fail("no token on the page");
}

async function say(browser: Browser, word: string, token: string, from: string | null = origin) {
  return await browser.ask("/functions/networkAuthCallback", {
    method: "POST",
    headers: { "content-type": type, ...(from !== null && { origin: from }) },
    payload: new URLSearchParams({ token, answer: word }).toString(),
  });
}

const refusals = async (actor: string) =>
  (
    await db.query(
      "select from audit_log where actor = $1 and action = 'account.connect.refused'",
      [actor],
    )
  ).rowCount;

test("another browser is shown whom the account would go to, and nothing happens before a yes", async () => {
  const { userId, email, url } = await started();
  const other = new Browser(app);
  const page = await other.ask(url);
  const token = tokenIn(page);
  assert.ok(page.body.includes(email));
  assert.ok(page.body.includes(userId));
  assert.equal(page.headers["cache-control"], "no-store");
  assert.doesNotMatch(page.body, /<script/);
  assert.equal(platform.journal.length, 0);
  assert.equal(await isConnected(userId), false);

  const answer = await say(other, "yes", token);
  assert.equal(answer.statusCode, 302, answer.body);
  assert.equal(answer.headers.location, "http://localhost:3000/settings?network=connected");
  assert.equal(platform.tokenForms()[0]?.["code"], "c");
  assert.equal(await isConnected(userId), true);
});

test("the same user in another browser is asked as well", async () => {
  const { browser, url } = await started();
  browser.cookies.delete("connection");
  tokenIn(await browser.ask(url));
  assert.equal(platform.journal.length, 0);
});

test("a no ends it: nothing is asked of the platform, and the token is used up", async () => {
  const { userId, url } = await started();
  const other = new Browser(app);
  const token = tokenIn(await other.ask(url));
  const answer = await say(other, "no", token);
  assert.equal(answer.statusCode, 200);
  assert.match(answer.body, /No account was connected/);
  assert.equal((await say(other, "yes", token)).statusCode, 400);
  assert.equal(platform.journal.length, 0);
  assert.equal(await isConnected(userId), false);
});

test("a yes counts once, however often it is said at once", async () => {
  const { url } = await started();
  const other = new Browser(app);
  const token = tokenIn(await other.ask(url));
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => await say(other, "yes", token)),
  );
  const statuses = answers.map((answer) => answer.statusCode).sort();
  assert.deepEqual(statuses, [302, ...Array.from({ length: 9 }, () => 400)]);
  assert.equal(platform.tokenForms().length, 1);
});

test("a yes from another page, another browser or without a word is refused", async () => {
  for (const from of ["https://evil.example", "null", null, web.replace("3000", "3001")]) {
    const { userId, url } = await started();
    const other = new Browser(app);
    const token = tokenIn(await other.ask(url));
    assert.equal((await say(other, "yes", token, from)).statusCode, 403, String(from));
    assert.equal(await isConnected(userId), false);
  }
  const { userId, url } = await started();
  const other = new Browser(app);
  const token = tokenIn(await other.ask(url));
  assert.equal((await say(other, "", token)).statusCode, 400);
  assert.equal((await say(new Browser(app), "yes", token)).statusCode, 403);
  assert.equal((await say(other, "yes", token)).statusCode, 400);
  assert.equal(platform.journal.length, 0);
  assert.equal(await isConnected(userId), false);
});

test("the state is no token, and the token is no state", async () => {
  const one = await started();
  const state = new URL(one.url, origin).searchParams.get("state") ?? "";
  assert.equal((await say(one.browser, "yes", state)).statusCode, 400);
  const other = new Browser(app);
  const token = tokenIn(await other.ask(one.url));
  const url = `/functions/networkAuthCallback?code=mine&state=${token}`;
  assert.equal((await other.ask(url)).statusCode, 400);
  assert.equal((await say(other, "yes", token)).statusCode, 302);
  assert.equal(platform.tokenForms()[0]?.["code"], "c");
});

test("another signed-in user is refused, also with the right cookie, and the state is gone", async () => {
  const { browser, userId, url } = await started();
  const other = new Browser(app);
  const otherUser = await other.signUp(web);
  other.cookies.set("connection", browser.cookies.get("connection") ?? "");
  const answer = await other.ask(url);
  assert.equal(answer.statusCode, 403);
  assert.equal(answer.json<{ error: { code: string } }>().error.code, "forbidden");
  assert.equal((await browser.ask(url)).statusCode, 400);
  assert.equal(platform.journal.length, 0);
  assert.equal(await isConnected(userId), false);
  assert.equal(await isConnected(otherUser.userId), false);
  assert.equal(await refusals(otherUser.userId), 1);
});

test("who signs in as somebody else between question and yes is refused", async () => {
  const { userId, url } = await started();
  const other = new Browser(app);
  const token = tokenIn(await other.ask(url));
  const otherUser = await other.signUp(web);
  assert.equal((await say(other, "yes", token)).statusCode, 403);
  assert.equal(await isConnected(userId), false);
  assert.equal(await refusals(otherUser.userId), 1);
});

test("the question expires after ten minutes, and keeps the code sealed until then", async () => {
  const { url } = await started();
  const other = new Browser(app);
  const token = tokenIn(await other.ask(url));
  const id = hash("sha256", token);
  const { rows } = await db.query("select code from connection_states where id = $1", [id]);
  assert.equal(
    deps.sealer.open(rows[0].code, JSON.stringify(["connection_states", id, "code"])),
    "c",
  );
  await db.query("update connection_states set created_at = now() - interval '11 minutes'");
  assert.equal((await say(other, "yes", token)).statusCode, 400);
  assert.equal(platform.journal.length, 0);
});

test("the page escapes whatever a user calls themselves, and its form may lead home and back only", async () => {
  const { userId, url } = await started("?returnTo=/settings");
  const name = `<img src=x onerror=alert(1)>"'&amp;\u202e`;
  await db.query("update connection_states set user_label = $1 where uid = $2", [name, userId]);
  const { body, headers } = await new Browser(app).ask(url);
  assert.ok(
    body.includes("<bdi>&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;amp;\u202e</bdi>"),
  );
  assert.doesNotMatch(body, /<img/);
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /form-action 'self' http:\/\/localhost:3000; frame-ancestors 'none'/);
  const style = /<style>([^]*)<\/style>/.exec(body)?.[1] ?? "";
  assert.ok(policy.includes(hash("sha256", style, "base64")));
});

test("a cancelled connection goes back without a question", async () => {
  const { url } = await started();
  const address = url.replace("code=c", "error=access_denied");
  const answer = await new Browser(app).ask(address);
  assert.equal(
    answer.headers.location,
    "http://localhost:3000/settings?network=error&reason=access_denied",
  );
});
