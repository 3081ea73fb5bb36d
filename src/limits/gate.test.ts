import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Redis } from "ioredis";
import { createTestUser, testSettings } from "../../test/helpers/app.ts";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { redisIsMissing, startRedis } from "../../test/helpers/redis.ts";
import { loadConfig } from "../config.ts";
import type { Config } from "../config.ts";
import { createGate } from "./gate.ts";
import type { Gate } from "./gate.ts";
import type { GateStore, Question } from "./gate-store.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { createRedisStore } from "./redis-store.ts";

interface StoreUnderTest {
  create(limits: Config["limits"]): GateStore;
  /** Makes every counted request older, as if that much time had gone by. */
  age(milliseconds: number): Promise<void>;
}

const { url, db } = await testDatabase();
const limitsWith = (settings: Record<string, string> = {}) =>
  loadConfig({ ...testSettings(url), ...settings }).limits;
const from = (ip: string, question: Partial<Question> = {}): Question => ({
  keyId: null,
  userId: null,
  ip,
  endpoint: null,
  ...question,
});

function sameRules(name: string, storeUnderTest: () => StoreUnderTest): void {
  const stores: GateStore[] = [];
  const gateWith = (settings: Record<string, string> = {}): Gate => {
    const limits = limitsWith(settings);
    const store = storeUnderTest().create(limits);
    stores.push(store);
    return createGate({ store, limits, log: quiet, countFailure: () => undefined });
  };
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });

  test(`${name}: a stranger has 25 + 10 requests a minute, by address`, async () => {
    const gate = gateWith();
    for (let used = 1; used <= 35; used++) {
      const verdict = await gate.check(from("192.0.2.1"));
      assert.equal(verdict.retryAfterMs, null);
      assert.equal(verdict.shown.capacity - verdict.shown.used, 35 - used);
    }
    assert.ok(((await gate.check(from("192.0.2.1"))).retryAfterMs ?? 0) > 0);
    assert.equal((await gate.check(from("192.0.2.2"))).retryAfterMs, null);
  });

  test(`${name}: tiers follow from key and subscription`, async () => {
    const gate = gateWith();
    const active = await createTestUser(db);
    const trialing = await createTestUser(db, { status: "trialing" });
    const unpaid = await createTestUser(db, { status: "unpaid" });
    const lapsed = await createTestUser(db, {
      status: "active",
      currentPeriodEnd: new Date(Date.now() - 1),
    });
    const without = await createTestUser(db, null);
    const tierOf = async (keyId: string | null) => {
      const { tier, shown } = await gate.check(from("192.0.2.3", { keyId }));
      return `${tier} ${shown.capacity}`;
    };
    assert.equal(await tierOf(active.keyId), "premium 200");
    assert.equal(await tierOf(trialing.keyId), "premium 200");
    assert.equal(await tierOf(unpaid.keyId), "authenticated 90");
    assert.equal(await tierOf(lapsed.keyId), "authenticated 90");
    assert.equal(await tierOf(without.keyId), "authenticated 90");
    assert.equal(await tierOf("0".repeat(64)), "default 35");
    assert.equal(await tierOf(null), "default 35");
  });

  test(`${name}: whitelisted users and addresses have the admin tier`, async () => {
    const user = await createTestUser(db);
    const gate = gateWith({ RATE_LIMIT_WHITELIST: `${user.userId}, 192.0.2.9` });
    assert.equal((await gate.check(from("192.0.2.4", { keyId: user.keyId }))).tier, "admin");
    const byAddress = await gate.check(from("192.0.2.9"));
    assert.deepEqual([byAddress.tier, byAddress.shown.capacity], ["admin", 700]);
  });

  test(`${name}: an endpoint's limit counts per user and per endpoint`, async () => {
    const gate = gateWith();
    const [one, other] = [await createTestUser(db), await createTestUser(db)];
    const endpoint = { name: "POST /v1/posts", capacity: 3 };
    const ask = async (keyId: string, at = endpoint) =>
      (await gate.check(from("192.0.2.5", { keyId, endpoint: at }))).retryAfterMs;
    for (let i = 0; i < 3; i++) assert.equal(await ask(one.keyId), null);
    assert.ok((await ask(one.keyId)) !== null);
    assert.equal(await ask(one.keyId, { name: "POST /v1/media", capacity: 3 }), null);
    assert.equal(await ask(other.keyId), null);
  });

  test(`${name}: an endpoint refusal says so, and the global limit was counted`, async () => {
    const gate = gateWith();
    const { keyId } = await createTestUser(db);
    const endpoint = { name: "POST /v1/posts", capacity: 1 };
    await gate.check(from("192.0.2.6", { keyId, endpoint }));
    const refused = await gate.check(from("192.0.2.6", { keyId, endpoint }));
    assert.deepEqual([refused.shownScope, refused.shown.capacity], ["endpoint", 1]);
    const global = await gate.check(from("192.0.2.6", { keyId }));
    assert.equal(global.shown.used, 3);
  });

  test(`${name}: a refused request is not counted, and a place frees when the oldest leaves`, async () => {
    const settings = { RATE_LIMIT_DEFAULT_MAX: "2", RATE_LIMIT_DEFAULT_BURST: "0" };
    const ip = "192.0.2.7";
    const ask = async () => (await gateWith(settings).check(from(ip))).retryAfterMs;
    assert.equal(await ask(), null);
    await storeUnderTest().age(40_000);
    assert.equal(await ask(), null);
    const wait = (await ask()) ?? 0;
    assert.ok(wait > 19_000 && wait <= 20_000, `${wait}`);
    await storeUnderTest().age(19_000);
    assert.ok((await ask()) !== null);
    await storeUnderTest().age(1_000);
    assert.equal(await ask(), null);
    assert.ok((await ask()) !== null);
  });

  test(`${name}: a limit of nothing admits nobody`, async () => {
    const gate = gateWith({ RATE_LIMIT_DEFAULT_MAX: "0", RATE_LIMIT_DEFAULT_BURST: "0" });
    assert.ok((await gate.check(from("192.0.2.8"))).retryAfterMs !== null);
  });

  test(`${name}: of many requests at once exactly the capacity passes`, async () => {
    const gates = [gateWith(), gateWith(), gateWith()];
    const { keyId } = await createTestUser(db);
    const asked = Array.from(
      { length: 900 },
      async (_, i) => await gates[i % 3]?.check(from("192.0.2.10", { keyId })),
    );
    const admitted = (await Promise.all(asked)).filter((verdict) => verdict?.retryAfterMs === null);
    assert.equal(admitted.length, 200);
    assert.deepEqual(
      admitted.map((verdict) => verdict?.shown.used).sort((a = 0, b = 0) => a - b),
      Array.from({ length: 200 }, (_, i) => i + 1),
    );
  });

  test(`${name}: crossed callers and endpoints in parallel batches never block each other`, async () => {
    const gates = [gateWith(), gateWith(), gateWith(), gateWith()];
    const users = await Promise.all(Array.from({ length: 12 }, () => createTestUser(db)));
    const names = ["POST /v1/posts", "POST /v1/media", "POST /v1/templates"];
    const asked = Array.from(
      { length: 2_000 },
      async (_, i) =>
        await gates[i % 4]?.check(
          from("192.0.2.11", {
            keyId: users[(i * 7) % 12]?.keyId ?? null,
            endpoint: { name: names[i % 3] ?? "", capacity: 1_000 },
          }),
        ),
    );
    assert.equal((await Promise.all(asked)).length, 2_000);
  });

  test(`${name}: a full bucket is refused from memory, without the store`, async () => {
    const limits = limitsWith({ RATE_LIMIT_DEFAULT_MAX: "1", RATE_LIMIT_DEFAULT_BURST: "0" });
    const store = storeUnderTest().create(limits);
    stores.push(store);
    let asked = 0;
    const counting: GateStore = {
      ...store,
      ask: async (question) => {
        asked += 1;
        return await store.ask(question);
      },
    };
    const gate = createGate({ store: counting, limits, log: quiet, countFailure: () => undefined });
    const ip = "192.0.2.12";
    for (let i = 0; i < 50; i++) await gate.check(from(ip));
    assert.equal(asked, 2);
  });

  test(`${name}: a bucket of its own takes its capacity, and 0 turns it off`, async () => {
    const gate = gateWith();
    const bucket = { name: `media ${randomUUID()}`, capacity: 2, windowMs: 60_000 };
    assert.equal((await gate.take(bucket))?.retryAfterMs, null);
    assert.equal((await gate.take(bucket))?.retryAfterMs, null);
    assert.ok(((await gate.take(bucket))?.retryAfterMs ?? 0) > 59_000);
    assert.equal(await gate.take({ ...bucket, capacity: 0 }), null);
  });

  test(`${name}: a key is refused from the moment its revocation has committed`, async () => {
    const gate = gateWith({ RATE_LIMIT_PREMIUM_MAX: "100000" });
    const { keyId } = await createTestUser(db);
    assert.equal((await gate.check(from("192.0.2.13", { keyId }))).keyState, "valid");
    await db.query("update api_keys set revoked_at = now() where id = $1", [keyId]);
    const states = await Promise.all(
      Array.from(
        { length: 200 },
        async () => (await gate.check(from("192.0.2.13", { keyId }))).keyState,
      ),
    );
    assert.ok(states.every((state) => state === "revoked"));
  });
}

describe("on PostgreSQL", () => {
  sameRules("PostgreSQL", () => ({
    create: (limits) => createPostgresStore(db, limits),
    age: async (milliseconds) => {
      await db.query(
        `update rate_limit_windows set
           hits = array(select hit - $1 * interval '1 ms' from unnest(hits) hit order by hit)`,
        [milliseconds],
      );
    },
  }));
});

describe("on Redis", { skip: redisIsMissing }, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let admin: Redis;
  before(async () => {
    redis = await startRedis();
    admin = new Redis(redis.url);
  });
  after(async () => {
    admin.disconnect();
    await redis.stop();
  });
  sameRules("Redis", () => ({
    create: (limits) => createRedisStore(db, { ...limits, redisUrl: redis.url }, quiet),
    age: async (milliseconds) => {
      for (const key of await admin.keys("herald:limit:*")) {
        const members = await admin.zrange(key, "0", "-1");
        for (const member of members) await admin.zincrby(key, -milliseconds * 1000, member);
      }
    },
  }));
});
