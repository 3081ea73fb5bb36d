import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { batched } from "../db/index.ts";
import type { Pool } from "../db/index.ts";
import { endpointWindowMs, tierNames } from "./gate-store.ts";
import type { Answer, Bucket, GateStore, Identity, Place, Question } from "./gate-store.ts";
import { LimiterUnavailable } from "./limiter-unavailable.ts";

// One place in each bucket of KEYS, in order, stopping at the first that is full. A bucket is a sorted set of the times
// (microseconds of Redis' own clock) of the requests that count. Times go out as text: a number would be cut to a whole.
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local answer = {string.format('%.3f', now / 1000)}
for i, key in ipairs(KEYS) do
  local capacity, window = tonumber(ARGV[i * 2]), tonumber(ARGV[i * 2 + 1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window * 1000)
  local used = redis.call('ZCARD', key)
  local admitted = used < capacity
  if admitted then
    redis.call('ZADD', key, now, ARGV[1])
    redis.call('PEXPIRE', key, window)
    used = used + 1
  end
  local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or now
  table.insert(answer, admitted and 1 or 0)
  table.insert(answer, used)
  table.insert(answer, string.format('%.3f', oldest / 1000 + window))
  if not admitted then break end
end
return answer`;

type TakeScript = (
  keyCount: number,
  ...keysAndArguments: (string | number)[]
) => Promise<(string | number)[]>;

interface IdentityRow {
  item: number;
  key_state: Identity["keyState"];
  user_id: string | null;
  key_name: string | null;
  subscription_state: Identity["subscriptionState"];
}

export function createRedisStore(db: Pool, limits: Config["limits"], log: Logger): GateStore {
  const redis = new Redis(limits.redisUrl ?? "", {
    // A limiter that hangs is worse than one that is down: fail at once and let the setting decide.
    maxRetriesPerRequest: 0,
    commandTimeout: 500,
    connectTimeout: 1_000,
    enableAutoPipelining: true,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
  });
  redis.on("error", (error) => log.warn({ err: error }, "limiter store connection"));
  // Only the very first requests may wait for the connection.
  redis.once("ready", () => {
    redis.options.enableOfflineQueue = false;
  });
  redis.defineCommand("takePlaces", { lua: takeScript });
  const takePlaces = (redis as unknown as { takePlaces: TakeScript }).takePlaces.bind(redis);

  const identify = batched(async (questions: Question[]): Promise<Identity[]> => {
    const { rows } = await db.query<IdentityRow>({
      name: "identify_many",
      text: "select * from identify_many($1, $2) order by item",
      values: [
        questions.map((question) => question.keyId),
        questions.map((question) => question.userId),
      ],
    });
    return rows.map((row) => ({
      keyState: row.key_state,
      userId: row.user_id,
      keyName: row.key_name,
      subscriptionState: row.subscription_state,
    }));
  });

  async function takeAll(
    buckets: Bucket[],
  ): Promise<{ first: Place; second: Place | null; askedMs: number }> {
    const keys = buckets.map((bucket) => `herald:limit:${bucket.name}`);
    const sizes = buckets.flatMap((bucket) => [bucket.capacity, bucket.windowMs]);
    const [askedMs, ...facts] = await takePlaces(keys.length, ...keys, randomUUID(), ...sizes);
    const places = buckets.flatMap((bucket, index) => {
      const [isAdmitted, used, resetMs] = facts.slice(index * 3, index * 3 + 3);
      if (isAdmitted === undefined) return [];
      return {
        isAdmitted: isAdmitted === 1,
        capacity: bucket.capacity,
        used: Number(used),
        resetMs: Number(resetMs),
      };
    });
    const [first, second = null] = places;
    if (!first) throw new Error("the limiter gave no answer");
    return { first, second, askedMs: Number(askedMs) };
  }

  function tierOf(identity: Identity, ip: string): number {
    if (limits.whitelist.includes(identity.userId ?? ip) || limits.whitelist.includes(ip)) return 3;
    if (identity.userId === null) return 0;
    return identity.subscriptionState === "active" ? 2 : 1;
  }

  return {
    async ask(question) {
      const identity = await identify(question);
      const tier = tierOf(identity, question.ip);
      // The braces keep one caller's buckets on one node of a cluster.
      const caller = identity.userId === null ? `{ip:${question.ip}}` : `{user:${identity.userId}}`;
      const mayPass = identity.keyState === "valid" && identity.subscriptionState === "active";
      const { capacity = 0, windowMs = 0 } = limits.tiers[tier] ?? {};
      const buckets = [{ name: caller, capacity, windowMs }];
      if (question.endpoint && mayPass) {
        const { name, capacity: places } = question.endpoint;
        buckets.push({ name: `${caller} ${name}`, capacity: places, windowMs: endpointWindowMs });
      }
      const tierName = tierNames[tier] ?? "default";
      try {
        const { first: global, second: endpoint, askedMs } = await takeAll(buckets);
        return { ...identity, tier: tierName, global, endpoint, askedMs } satisfies Answer;
      } catch (error) {
        throw new LimiterUnavailable(error, identity, tierName);
      }
    },
    async take(bucket) {
      try {
        const { first: place, askedMs } = await takeAll([bucket]);
        return { place, askedMs };
      } catch (error) {
        throw new LimiterUnavailable(error);
      }
    },
    close: async () => redis.disconnect(),
  };
}
