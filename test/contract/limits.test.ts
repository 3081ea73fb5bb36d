import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestUser, testApp } from "../helpers/app.ts";
import { signUp } from "../helpers/tokens.ts";

const { app, db, config } = await testApp();

interface Body {
  error: { code: string; message: string };
}

async function passes(request: {
  url: string;
  headers?: Record<string, string>;
  remoteAddress?: string;
}) {
  for (let count = 0; ; count++) {
    const answer = await app.inject(request);
    if (answer.statusCode === 429) return { count, refused: answer };
    if (count > 1_000) throw new Error("there is no limit");
  }
}

test("default tier: 25 + 10 a minute by address, on a route that needs no key", async () => {
  const { count, refused } = await passes({ url: "/health", remoteAddress: "203.0.113.1" });
  assert.equal(count, 35);
  assert.equal(refused.headers["x-ratelimit-tier"], "default");
});

test("guessing keys is limited by address: 401s count", async () => {
  const { count } = await passes({
    url: "/v1/me",
    headers: { "svc-api-key": "guess" },
    remoteAddress: "203.0.113.2",
  });
  assert.equal(count, 35);
});

test("authenticated tier: 60 + 30 a minute by user, a valid key without an active subscription", async () => {
  const { key } = await createTestUser(db, null);
  const { count, refused } = await passes({ url: "/v1/me", headers: { "svc-api-key": key } });
  assert.equal(count, 90);
  assert.equal(refused.headers["x-ratelimit-tier"], "authenticated");
});

test("premium tier: 100 + 100 a minute by user, whatever the address", async () => {
  const { key } = await createTestUser(db);
  const headers = { "svc-api-key": key };
  const { count, refused } = await passes({ url: "/v1/me", headers });
  assert.equal(count, 200);
  assert.equal(refused.headers["x-ratelimit-tier"], "premium");
  assert.equal(
    (await app.inject({ url: "/v1/me", headers, remoteAddress: "203.0.113.3" })).statusCode,
    429,
  );
});

test("admin tier: 200 + 500 a minute for whitelisted users", async () => {
  const { key, userId } = await createTestUser(db);
  const listed = await testApp({ RATE_LIMIT_WHITELIST: userId, DATABASE_URL: config.database.url });
  const answer = await listed.app.inject({ url: "/v1/me", headers: { "svc-api-key": key } });
  assert.deepEqual(
    [answer.headers["x-ratelimit-tier"], answer.headers["x-ratelimit-limit"]],
    ["admin", "700"],
  );
});

test("429 names the seconds to wait in Retry-After and in the message", async () => {
  const { refused } = await passes({ url: "/health", remoteAddress: "203.0.113.4" });
  const seconds = String(refused.headers["retry-after"]);
  assert.match(seconds, /^([1-9]|[1-5]\d|60)$/);
  const { error } = refused.json<Body>();
  assert.equal(error.code, "rate_limit_exceeded");
  assert.ok(error.message.includes(`${seconds} seconds`));
  assert.equal(refused.headers["x-ratelimit-remaining"], "0");
});

test("an endpoint limit holds beside the global one, per user, and the headers show the one with fewer left", async () => {
  const limited = await testApp();
  limited.app.post(
    "/v1/costly",
    { config: { credential: "apiKey", limitPerMinute: 30 } },
    () => ({}),
  );
  const [one, other] = [await createTestUser(limited.db), await createTestUser(limited.db)];
  const post = async (key: string) =>
    await limited.app.inject({
      method: "POST",
      url: "/v1/costly",
      headers: { "svc-api-key": key },
    });
  for (let left = 29; left >= 0; left--) {
    const answer = await post(one.key);
    assert.deepEqual([answer.statusCode, answer.headers["x-ratelimit-limit"]], [200, "30"]);
    assert.equal(answer.headers["x-ratelimit-remaining"], String(left));
  }
  assert.equal((await post(one.key)).statusCode, 429);
  assert.equal((await post(other.key)).statusCode, 200);
  const elsewhere = await limited.app.inject({
    url: "/v1/me",
    headers: { "svc-api-key": one.key },
  });
  assert.deepEqual([elsewhere.statusCode, elsewhere.headers["x-ratelimit-limit"]], [200, "200"]);
});

test("who may not pass is not counted at the endpoint", async () => {
  const limited = await testApp();
  limited.app.post(
    "/v1/costly",
    { config: { credential: "apiKey", limitPerMinute: 1 } },
    () => ({}),
  );
  const user = await createTestUser(limited.db, { status: "unpaid" });
  const post = async () =>
    (
      await limited.app.inject({
        method: "POST",
        url: "/v1/costly",
        headers: { "svc-api-key": user.key },
      })
    ).statusCode;
  assert.deepEqual([await post(), await post()], [403, 403]);
  await limited.db.query("update subscriptions set status = 'active' where user_id = $1", [
    user.userId,
  ]);
  assert.deepEqual([await post(), await post()], [200, 429]);
});

test("X-Forwarded-For is ignored unless it comes from a trusted proxy", async () => {
  const remoteAddress = "203.0.113.5";
  for (let i = 0; i < 35; i++) {
    await app.inject({
      url: "/health",
      remoteAddress,
      headers: { "x-forwarded-for": `10.0.0.${i}` },
    });
  }
  const refused = await app.inject({
    url: "/health",
    remoteAddress,
    headers: { "x-forwarded-for": "10.9.9.9" },
  });
  assert.equal(refused.statusCode, 429);

  const behind = await testApp({ TRUST_PROXY: "203.0.113.5", RATE_LIMIT_WHITELIST: "192.0.2.200" });
  const tier = async (from: string, forwarded: string) =>
    (
      await behind.app.inject({
        url: "/health",
        remoteAddress: from,
        headers: { "x-forwarded-for": forwarded },
      })
    ).headers["x-ratelimit-tier"];
  assert.equal(await tier("203.0.113.5", "192.0.2.200"), "admin");
  assert.equal(await tier("203.0.113.6", "192.0.2.200"), "default");
});

test("key management counts by user and needs no subscription", async () => {
  const { token } = await signUp(app, config.urls.web);
  const { count } = await passes({
    url: "/v1/api-keys",
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(count, 90);
});

test("signing in is limited by address on its own", async () => {
  const attempt = async () =>
    await app.inject({
      method: "POST",
      url: "/api/auth/sign-in/email",
      remoteAddress: "203.0.113.7",
      headers: { origin: new URL(config.urls.web).origin },
      payload: { email: "nobody@users.example", password: "a wrong password" },
    });
  const statuses = await Promise.all(
    Array.from({ length: 21 }, async () => (await attempt()).statusCode),
  );
  assert.equal(statuses.filter((status) => status === 429).length, 1);
});

test("probes are not limited and need no key", async () => {
  const statuses = await Promise.all(
    Array.from(
      { length: 100 },
      async () => (await app.inject({ url: "/livez", remoteAddress: "203.0.113.8" })).statusCode,
    ),
  );
  assert.ok(statuses.every((status) => status === 200));
});
