import type { FastifyReply, FastifyRequest } from "fastify";
import { inTransaction, isLockTimeout } from "../db/index.ts";
import type { Pool, Transaction } from "../db/index.ts";
import type { Sealer } from "../sealing.ts";
import { keep, placeOf, recall, scopeOf, stillRunning } from "./idempotency-records.ts";
import type { Outcome, Scope } from "./idempotency-records.ts";

// Requests of this process that carry out a key now. A repeat waits for them here, so that fifty repeats hold one
// connection and not fifty; repeats at other processes wait for the row.
const running = new Map<string, Promise<unknown>>();

async function claim(tx: Transaction, scope: Scope): Promise<boolean> {
  await tx.query("set local lock_timeout = '10s'; set local statement_timeout = '11s'");
  const { rowCount } = await tx.query({
    name: "idempotency_claim",
    text: `insert into idempotency_records (user_id, endpoint, key_hash, body_hash) values ($1, $2, $3, $4)
           on conflict do nothing`,
    values: [scope.userId, scope.endpoint, scope.keyHash, scope.bodyHash],
  });
  return rowCount === 1;
}

/**
 * Carries out `work` once per key and answers repeats with the first outcome. The record commits together with the
 * effect; a failure rolls both back, so a corrected request may use the same key.
 */
export async function answerOnce<Body>(
  { db, sealer }: { db: Pool; sealer: Sealer },
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Transaction) => Promise<Outcome<Body>>,
): Promise<Body> {
  const scope = scopeOf(request);
  const place = placeOf(scope);
  while (running.has(place)) await running.get(place)?.catch(() => undefined);

  const attempt = inTransaction(db, async (tx) => {
    if (await claim(tx, scope)) {
      const outcome = await work(tx);
      await keep({ db: tx, sealer }, scope, outcome, null);
      return { outcome, isRepeat: false };
    }
    const outcome = await recall<Body>({ db: tx, sealer }, scope);
    if (!outcome) throw stillRunning();
    return { outcome, isRepeat: true };
  });
  running.set(place, attempt);
  try {
    const { outcome, isRepeat } = await attempt;
    if (isRepeat) reply.header("idempotency-replayed", "true");
    reply.code(outcome.status);
    return outcome.body;
  } catch (error) {
    throw isLockTimeout(error) ? stillRunning(error) : error;
  } finally {
    running.delete(place);
  }
}
