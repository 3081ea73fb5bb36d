import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { inTransaction } from "../db/index.ts";
import type { Db, Pool, Transaction } from "../db/index.ts";
import type { Sealer } from "../sealing.ts";
import { keep, recall, scopeOf, stillRunning } from "./idempotency-records.ts";
import type { Outcome, Scope } from "./idempotency-records.ts";

const leaseSeconds = 30;
const renewMs = 10_000;
const patienceMs = 10_000;
const lookMs = 200;

/** Takes a key that is new, or whose holder has died. */
async function take(db: Db, scope: Scope, holder: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "idempotency_take",
    text: `insert into idempotency_records as r (user_id, endpoint, key_hash, body_hash, holder, leased_until)
           values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')
           on conflict (user_id, endpoint, key_hash) do update set holder = excluded.holder, leased_until = excluded.leased_until
           where r.answer is null and r.leased_until < now() and r.body_hash = excluded.body_hash`,
    values: [scope.userId, scope.endpoint, scope.keyHash, scope.bodyHash, holder, leaseSeconds],
  });
  return rowCount === 1;
}

async function renew(db: Db, scope: Scope, holder: string): Promise<void> {
  await db.query({
    name: "idempotency_renew",
    text: `update idempotency_records set leased_until = now() + $5 * interval '1 second'
           where user_id = $1 and endpoint = $2 and key_hash = $3 and holder = $4`,
    values: [scope.userId, scope.endpoint, scope.keyHash, holder, leaseSeconds],
  });
}

async function giveBack(db: Db, scope: Scope, holder: string): Promise<void> {
  await db.query({
    name: "idempotency_give_back",
    text: `delete from idempotency_records
           where user_id = $1 and endpoint = $2 and key_hash = $3 and holder = $4 and answer is null`,
    values: [scope.userId, scope.endpoint, scope.keyHash, holder],
  });
}

/**
 * As `answerOnce`, for work that takes long or calls others: it runs under a lease, outside of any transaction, and
 * returns what is to be written. That commits together with the answer, and only while the lease is ours.
 */
export async function answerOnceLeased<Body>(
  deps: { db: Pool; sealer: Sealer },
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<(tx: Transaction) => Promise<Outcome<Body>>>,
): Promise<Body> {
  const { db, sealer } = deps;
  const scope = scopeOf(request);
  const holder = randomUUID();
  const deadline = performance.now() + patienceMs;
  while (!(await take(db, scope, holder))) {
    const earlier = await recall<Body>(deps, scope);
    if (earlier) {
      reply.header("idempotency-replayed", "true").code(earlier.status);
      return earlier.body;
    }
    if (performance.now() > deadline) throw stillRunning();
    await pause(lookMs);
  }
  // A renewal that fails is made up for by the next one; where none succeeds, `keep` finds the lease gone.
  const renewal = setInterval(() => void renew(db, scope, holder).catch(() => undefined), renewMs);
  try {
    const write = await work();
    const outcome = await inTransaction(db, async (tx) => {
      const written = await write(tx);
      if (!(await keep({ db: tx, sealer }, scope, written, holder))) throw stillRunning();
      return written;
    });
    reply.code(outcome.status);
    return outcome.body;
  } catch (error) {
    // Without it the key would be free again when the lease runs out.
    await giveBack(db, scope, holder).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}
