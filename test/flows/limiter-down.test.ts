import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestUser, testApp } from "../helpers/app.ts";
import { redisIsMissing, startRedis } from "../helpers/redis.ts";

const gone = "postgresql://127.0.0.1:1/none";

for (const [onFailure, status] of [
  ["open", 200],
  ["closed", 503],
] as const) {
  test(
    `Redis is down and the setting is ${onFailure}: a good key gets ${status}, a bad one never passes`,
    { skip: redisIsMissing },
    async () => {
      const redis = await startRedis();
      const { app, db, deps } = await testApp({
        REDIS_URL: redis.url,
        RATE_LIMIT_ON_FAILURE: onFailure,
      });
      const { key } = await createTestUser(db);
      const me = async (given: string) =>
        await app.inject({ url: "/v1/me", headers: { "svc-api-key": given } });
      assert.equal((await me(key)).statusCode, 200);
      await redis.stop();
      const answer = await me(key);
      assert.equal(answer.statusCode, status);
      assert.notEqual((await me("guess")).statusCode, 200);
      if (onFailure === "open") assert.equal(answer.headers["x-ratelimit-limit"], "200");
      const { values } = await deps.metrics.limiterFailures.get();
      assert.ok((values[0]?.value ?? 0) >= 1);
    },
  );

  test(`PostgreSQL is down and the setting is ${onFailure}: nothing that needs a key passes, and the answer is 503 at once`, async () => {
    const { app } = await testApp({ DATABASE_URL: gone, RATE_LIMIT_ON_FAILURE: onFailure });
    const startedAt = performance.now();
    const me = await app.inject({ url: "/v1/me", headers: { "svc-api-key": "any" } });
    assert.deepEqual([me.statusCode, me.headers["retry-after"]], [503, "1"]);
    assert.equal(me.json<{ error: { code: string } }>().error.code, "service_unavailable");
    assert.equal(
      (await app.inject({ url: "/v1/me" })).statusCode,
      onFailure === "open" ? 401 : 503,
    );
    const health = await app.inject({ url: "/health" });
    assert.equal(health.statusCode, 503);
    if (onFailure === "open") assert.equal(health.json<{ status: string }>().status, "unavailable");
    assert.equal((await app.inject({ url: "/livez" })).statusCode, 200);
    assert.equal((await app.inject({ url: "/readyz" })).statusCode, 503);
    assert.ok(performance.now() - startedAt < 5_000);
  });
}
