import type { Config } from "../config.ts";
import { batched } from "../db/index.ts";
import type { BatchLimits, Pool } from "../db/index.ts";
import { endpointWindowMs, tierNames } from "./gate-store.ts";
import type { Answer, Bucket, GateStore, Identity, Place, Question } from "./gate-store.ts";

interface GateRow {
  item: number;
  key_state: Identity["keyState"];
  user_id: string | null;
  key_name: string | null;
  subscription_state: Identity["subscriptionState"];
  tier: number;
  is_admitted: boolean;
  capacity: number;
  used: number;
  reset_ms: number;
  is_endpoint_admitted: boolean | null;
  endpoint_capacity: number;
  endpoint_used: number;
  endpoint_reset_ms: number;
  asked_ms: number;
}

function answerOf(row: GateRow): Answer {
  return {
    keyState: row.key_state,
    userId: row.user_id,
    keyName: row.key_name,
    subscriptionState: row.subscription_state,
    tier: tierNames[row.tier - 1] ?? "default",
    global: {
      isAdmitted: row.is_admitted,
      capacity: row.capacity,
      used: row.used,
      resetMs: row.reset_ms,
    },
    endpoint:
      row.is_endpoint_admitted === null
        ? null
        : {
            isAdmitted: row.is_endpoint_admitted,
            capacity: row.endpoint_capacity,
            used: row.endpoint_used,
            resetMs: row.endpoint_reset_ms,
          },
    askedMs: row.asked_ms,
  };
}

/** Puts rows that carry the number of their item back into the order of the items. */
function inOrder<Row extends { item: number }>(rows: Row[]): Row[] {
  return rows.sort((a, b) => a.item - b.item);
}

export function createPostgresStore(
  db: Pool,
  limits: Config["limits"],
  batching?: BatchLimits,
): GateStore {
  const tierCapacities = limits.tiers.map((tier) => tier.capacity);
  const tierWindows = limits.tiers.map((tier) => tier.windowMs);

  async function askMany(questions: Question[]): Promise<Answer[]> {
    const { rows } = await db.query<GateRow>({
      name: "gate_many",
      text: "select * from gate_many($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      values: [
        questions.map((question) => question.keyId),
        questions.map((question) => question.userId),
        questions.map((question) => question.ip),
        questions.map((question) => question.endpoint?.name ?? null),
        questions.map((question) => question.endpoint?.capacity ?? null),
        endpointWindowMs,
        tierCapacities,
        tierWindows,
        limits.whitelist,
      ],
    });
    return inOrder(rows).map(answerOf);
  }

  async function takeMany(buckets: Bucket[]): Promise<{ place: Place; askedMs: number }[]> {
    const { rows } = await db.query<GateRow>({
      name: "take_places",
      text: "select * from take_places($1, $2, $3)",
      values: [
        buckets.map((bucket) => bucket.name),
        buckets.map((bucket) => bucket.capacity),
        buckets.map((bucket) => bucket.windowMs),
      ],
    });
    return inOrder(rows).map((row) => {
      const { global, askedMs } = answerOf({ ...row, is_endpoint_admitted: null });
      return { place: global, askedMs };
    });
  }

  return {
    ask: batched(askMany, batching),
    take: batched(takeMany, batching),
    close: () => Promise.resolve(),
  };
}
