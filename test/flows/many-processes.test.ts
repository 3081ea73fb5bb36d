import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { createDeps } from "../../src/deps.ts";
import { createTestUser, testSettings } from "../helpers/app.ts";
import { quiet, testDatabase } from "../helpers/database.ts";
import { startApiProcess } from "../helpers/processes.ts";
import { redisIsMissing, startRedis } from "../helpers/redis.ts";
import { newCredentials, signInOver } from "../helpers/tokens.ts";

const processes = 8;
const calls = 5_000;

const { url, db } = await testDatabase();
const settings = {
  ...testSettings(url),
  DATABASE_POOL_SIZE: "4",
  BASE_URL: "http://localhost:3000",
  RATE_LIMIT_ADMIN_MAX: "100000",
};

async function startAll(more: Record<string, string> = {}) {
  const apis = await Promise.all(
    Array.from({ length: processes }, async () => await startApiProcess({ ...settings, ...more })),
  );
  after(async () => {
    await Promise.all(apis.map(async (api) => await api.stop()));
  });
  return apis.map((api) => api.url);
}

/** Asks all processes in turn, a hundred requests at a time, and returns the statuses. */
async function ask(urls: string[], key: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const api = urls[next++ % urls.length];
      const answer = await fetch(`${api}/v1/me`, { headers: { "svc-api-key": key } });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
  };
  await Promise.all(Array.from({ length: 100 }, client));
  return statuses;
}

const countOf = (statuses: number[], status: number): number =>
  statuses.filter((each) => each === status).length;

// A whitelisted user, so that no limit stands between the calls and the question whether the key is good.
const credentials = newCredentials();
const deps = createDeps(loadConfig(settings), quiet);
const unlimited = await deps.identity.createUser({ ...credentials, name: "Ada" });
await deps.close();

test(`over ${processes} processes on PostgreSQL`, async (t) => {
  const urls = await startAll({ RATE_LIMIT_WHITELIST: unlimited });

  await t.test(`of ${calls} calls on one key limit + burst are let in, exactly`, async () => {
    const { key } = await createTestUser(db);
    const statuses = await ask(urls, key, calls);
    assert.deepEqual([countOf(statuses, 200), countOf(statuses, 429)], [200, calls - 200]);
  });

  await t.test(
    "once a revocation has answered, none of the next 1,000 calls is let in",
    async () => {
      const [api = ""] = urls;
      const { token } = await signInOver(api, settings.BASE_URL, credentials);
      const { key, keyId } = await createTestUser(db, {}, unlimited);
      assert.equal(countOf(await ask(urls, key, 400), 200), 400);
      // Calls are under way at every process while the key is revoked.
      const meanwhile = ask(urls, key, 2_000);
      const revoked = await fetch(`${api}/v1/api-keys/${keyId}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${token}` },
      });
      assert.deepEqual(await revoked.json(), { revoked: true });
      assert.equal(countOf(await ask(urls, key, 1_000), 200), 0);
      await meanwhile;
    },
  );
});

test(`over ${processes} processes on Redis`, { skip: redisIsMissing }, async (t) => {
  const redis = await startRedis();
  after(redis.stop);
  const urls = await startAll({ REDIS_URL: redis.url });

  await t.test(`of ${calls} calls on one key limit + burst are let in, exactly`, async () => {
    const { key } = await createTestUser(db);
    const statuses = await ask(urls, key, calls);
    assert.deepEqual([countOf(statuses, 200), countOf(statuses, 429)], [200, calls - 200]);
  });
});
