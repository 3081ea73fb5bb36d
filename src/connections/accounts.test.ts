import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestUser } from "../../test/helpers/app.ts";
import { Browser, testConnections } from "./connections.testing.ts";
import { accountsOf, saveAuthorUrn } from "./index.ts";
import { saveAccount } from "./queries.ts";
import { findTokens } from "./token-queries.ts";

const { app, db, deps, config, owner } = await testConnections();
const canary = "canary-of-a-token";

async function connected(userId: string, accountId: string, platform = "linkedin" as const) {
  const expiresAt = new Date("2031-01-02T03:04:05.000Z");
  await saveAccount(db, deps.sealer, {
    userId,
    platform,
    profile: {
      accountId,
      displayName: "Ada",
      username: null,
      avatarUrl: "https://cdn.example/a.png",
      authorUrn: null,
    },
    tokens: {
      accessToken: canary,
      refreshToken: canary,
      scope: "openid",
      expiresIn: 3_600,
      expiresAt,
      refreshExpiresAt: null,
    },
  });
}

const user = await createTestUser(db);
const stranger = await createTestUser(db);
const headers = { "svc-api-key": user.key };
await connected(user.userId, "1");
await connected(user.userId, "two words?".replaceAll(" ", "/"));

test("the list holds every field of the record but the tokens", async () => {
  const answer = await app.inject({ url: "/v1/accounts", headers });
  assert.equal(answer.statusCode, 200);
  const { accounts } = answer.json<{ accounts: Record<string, unknown>[] }>();
  assert.equal(accounts.length, 2);
  const { updatedAt, ...account } = accounts[0] ?? {};
  assert.ok(Math.abs(Date.parse(String(updatedAt)) - Date.now()) < 60_000);
  assert.deepEqual(account, {
    platform: "linkedin",
    accountId: "1",
    tokenType: "bearer",
    scope: "openid",
    expiresIn: 3_600,
    expiresAt: "2031-01-02T03:04:05.000Z",
    profile: {
      platformId: "1",
      displayName: "Ada",
      username: null,
      avatarUrl: "https://cdn.example/a.png",
    },
    authorUrn: null,
    enabled_for_repost: false,
    status: "active",
  });
  assert.doesNotMatch(answer.body, /canary|v1\./);
});

test("a user sees, changes and removes own accounts only", async () => {
  const asStranger = { "svc-api-key": stranger.key };
  const list = await app.inject({ url: "/v1/accounts", headers: asStranger });
  assert.deepEqual(list.json(), { accounts: [] });
  const url = "/v1/accounts/linkedin/1";
  const payload = { enabled_for_repost: true };
  for (const options of [{ method: "PATCH", payload } as const, { method: "DELETE" } as const]) {
    const answer = await app.inject({ url, headers: asStranger, ...options });
    assert.equal(answer.statusCode, 404);
  }
  assert.equal((await app.inject({ url: "/v1/accounts" })).statusCode, 401);
});

test("reposting is turned on and off, by any name of the platform", async () => {
  for (const [name, isEnabled] of [
    ["linkedin", true],
    ["network", false],
  ] as const) {
    const answer = await app.inject({
      method: "PATCH",
      url: `/v1/accounts/${name}/1`,
      headers,
      payload: { enabled_for_repost: isEnabled },
    });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.json<{ enabled_for_repost: boolean }>().enabled_for_repost, isEnabled);
    assert.equal(answer.json<{ platform: string }>().platform, "linkedin");
  }
});

test("what can't be changed is refused", async () => {
  const url = "/v1/accounts/linkedin/1";
  for (const payload of [
    {},
    { enabled_for_repost: "yes" },
    { enabled_for_repost: true, status: "active" },
  ]) {
    const answer = await app.inject({ method: "PATCH", url, headers, payload });
    assert.equal(answer.statusCode, 400, JSON.stringify(payload));
  }
  const payload = { enabled_for_repost: true };
  for (const path of [
    "linkedin/unknown",
    "twitter/1",
    "nowhere/1",
    "__proto__/1",
    "constructor/1",
  ]) {
    const options = { url: `/v1/accounts/${path}`, headers };
    assert.equal(
      (await app.inject({ method: "PATCH", payload, ...options })).statusCode,
      404,
      path,
    );
    assert.equal((await app.inject({ method: "DELETE", ...options })).statusCode, 404, path);
  }
  for (const path of ["linkedin/%C3%A9", "linkedin/%20", `linkedin/${"x".repeat(201)}`]) {
    const answer = await app.inject({ method: "DELETE", url: `/v1/accounts/${path}`, headers });
    assert.equal(answer.statusCode, 400, path);
  }
});

test("a disconnected account and its tokens are gone, and the audit log knows", async () => {
  const accountId = "two/words?";
  const options = {
    method: "DELETE",
    url: `/v1/accounts/linkedin/${encodeURIComponent(accountId)}`,
    headers,
  } as const;
  const answer = await app.inject(options);
  assert.equal(answer.statusCode, 200, answer.body);
  assert.deepEqual(answer.json(), { disconnected: true });
  assert.equal((await app.inject(options)).statusCode, 404);
  const key = { userId: user.userId, platform: "linkedin", accountId } as const;
  assert.equal(await findTokens(db, key), undefined);
  const { rows } = await db.query("select action, subject from audit_log where actor = $1", [
    user.userId,
  ]);
  assert.deepEqual(rows, [{ action: "account.disconnect", subject: `linkedin/${accountId}` }]);
});

test("a signed-in user has the same routes below the web app, by ID token", async () => {
  const { token, userId } = await new Browser(app).signUp(config.urls.web);
  await connected(userId, "web");
  const asUser = { authorization: `Bearer ${token}` };
  const list = await app.inject({ url: "/api/v1/accounts", headers: asUser });
  assert.equal(list.json<{ accounts: unknown[] }>().accounts.length, 1);
  const url = "/api/v1/accounts/linkedin/web";
  const payload = { enabled_for_repost: true };
  assert.equal(
    (await app.inject({ method: "PATCH", url, headers: asUser, payload })).statusCode,
    200,
  );
  assert.equal((await app.inject({ method: "DELETE", url, headers: asUser })).statusCode, 200);
  assert.equal((await app.inject({ url: "/api/v1/accounts", headers })).statusCode, 401);
});

test("many users' accounts come by one query, in the order asked", async () => {
  const one = await createTestUser(db);
  await connected(one.userId, "a");
  await connected(one.userId, "b");
  await db.query("update connected_accounts set status = 'needs_reconnect' where account_id = 'b'");
  const found = await accountsOf(db, [stranger.userId, one.userId, "nobody", one.userId]);
  const accounts = [
    { platform: "linkedin", accountId: "a", status: "active" },
    { platform: "linkedin", accountId: "b", status: "needs_reconnect" },
  ];
  assert.deepEqual(found, [[], accounts, [], accounts]);
  assert.deepEqual(await accountsOf(db, []), []);
});

test("an author's name that was missing is kept once it is known", async () => {
  const key = { userId: user.userId, platform: "linkedin", accountId: "1" } as const;
  await saveAuthorUrn(db, key, "urn:li:person:1");
  assert.equal((await findTokens(db, key))?.authorUrn, "urn:li:person:1");
  await connected(user.userId, "1");
  assert.equal((await findTokens(db, key))?.authorUrn, "urn:li:person:1");
});

test("people and dashboards see who is connected, and no token or state", async () => {
  const client = await owner.connect();
  try {
    await client.query("set role herald_readonly");
    await client.query(
      "select user_id, platform, account_id, status, token_version from connected_accounts",
    );
    for (const what of [
      "access_token from connected_accounts",
      "refresh_token from connected_accounts",
      "* from connected_accounts",
      "a from connected_accounts a",
      "id from connection_states",
      "code_verifier from connection_states",
    ]) {
      await assert.rejects(client.query(`select ${what}`), /permission denied/, what);
    }
  } finally {
    await client.query("reset role");
    client.release();
  }
});
