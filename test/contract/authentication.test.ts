import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestUser, testApp } from "../helpers/app.ts";
import { signUp } from "../helpers/tokens.ts";

const { app, db, config } = await testApp();

async function me(key?: string) {
  const answer = await app.inject({
    url: "/v1/me",
    headers: key === undefined ? {} : { "svc-api-key": key },
  });
  const { error } = answer.json<{ error?: { code: string; message: string; type: string } }>();
  return { status: answer.statusCode, ...error };
}

test("no key header: 401 unauthorized", async () => {
  const { status, code, message, type } = await me();
  assert.deepEqual([status, code, type], [401, "unauthorized", "authentication_error"]);
  assert.match(message ?? "", /missing or invalid svc-api-key header/i);
});

test("an unknown key: 401 Invalid API key", async () => {
  const { status, code, message } = await me("sk_live_unknown");
  assert.deepEqual([status, code, message], [401, "unauthorized", "Invalid API key"]);
});

test("a revoked key: 401 API key revoked", async () => {
  const { key, keyId } = await createTestUser(db);
  assert.equal((await me(key)).status, 200);
  await db.query("update api_keys set revoked_at = now() where id = $1", [keyId]);
  const { status, code, message } = await me(key);
  assert.deepEqual([status, code, message], [401, "unauthorized", "API key revoked"]);
});

test("no subscription record: 403 Subscription required", async () => {
  const { key } = await createTestUser(db, null);
  const { status, code, message } = await me(key);
  assert.deepEqual([status, code, message], [403, "forbidden", "Subscription required"]);
});

for (const status of ["canceled", "past_due", "unpaid"] as const) {
  test(`a subscription that is ${status}: 403 Subscription inactive or expired`, async () => {
    const { key } = await createTestUser(db, { status });
    const { status: answered, message } = await me(key);
    assert.deepEqual([answered, message], [403, "Subscription inactive or expired"]);
  });
}

for (const status of ["trialing", "active"] as const) {
  test(`a subscription that is ${status} admits until its period ends, and not a moment longer`, async () => {
    const running = await createTestUser(db, {
      status,
      currentPeriodEnd: new Date(Date.now() + 60_000),
    });
    assert.equal((await me(running.key)).status, 200);
    const ended = await createTestUser(db, { status, currentPeriodEnd: new Date(Date.now() - 1) });
    const { status: answered, message } = await me(ended.key);
    assert.deepEqual([answered, message], [403, "Subscription inactive or expired"]);
  });
}

test("a valid key: the request knows user, key and key name", async () => {
  const user = await createTestUser(db);
  const answer = await app.inject({ url: "/v1/me", headers: { "svc-api-key": user.key } });
  assert.deepEqual(answer.json(), {
    userId: user.userId,
    keyId: user.keyId,
    keyName: "test",
    tier: "premium",
  });
});

test("a key in the address or the body is not a credential", async () => {
  const { key } = await createTestUser(db);
  assert.equal((await app.inject({ url: `/v1/me?svc-api-key=${key}` })).statusCode, 401);
});

test("an API key is no ID token, and an ID token is no API key", async () => {
  const { key } = await createTestUser(db);
  const { token } = await signUp(app, config.urls.web);
  const withKey = await app.inject({
    url: "/v1/api-keys",
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(withKey.statusCode, 401);
  assert.equal((await me(token)).status, 401);
});

test("key management without or with a wrong ID token: 401 unauthorized", async () => {
  for (const authorization of ["", "Bearer", "Bearer x.y.z", "Basic abc", "Bearer a b"]) {
    const answer = await app.inject({ url: "/v1/api-keys", headers: { authorization } });
    assert.equal(answer.statusCode, 401, authorization);
    assert.equal(answer.json<{ error: { code: string } }>().error.code, "unauthorized");
  }
});
