import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { inTransaction, isLockTimeout } from "../db/index.ts";
import type { Db, Pool, Transaction } from "../db/index.ts";
import { AppError } from "../errors.ts";
import type { Sealer } from "../sealing.ts";
import { bodyTextOf, endpointOf, idempotencyKeyOf } from "./idempotency-key.ts";

export interface Outcome<Body> {
  status: number;
  body: Body;
}

interface Scope {
  userId: string;
  endpoint: string;
  keyHash: string;
  bodyHash: string;
}

interface Stored {
  body_hash: string;
  answer: string;
}

// Requests of this process that carry out a key now. A repeat waits for them here, so that fifty repeats hold one
// connection and not fifty; repeats at other processes wait for the row.
const running = new Map<string, Promise<unknown>>();

function scopeOf(request: FastifyRequest, userId: string): Scope {
  return {
    userId,
    endpoint: endpointOf(request),
    keyHash: hash("sha256", idempotencyKeyOf(request)),
    bodyHash: hash("sha256", bodyTextOf(request)),
  };
}

const placeOf = (scope: Scope): string =>
  `idempotency/${scope.userId}/${scope.endpoint}/${scope.keyHash}`;

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

async function keep(tx: Transaction, scope: Scope, status: number, answer: string): Promise<void> {
  await tx.query({
    name: "idempotency_keep",
    text: "update idempotency_records set status = $4, answer = $5 where user_id = $1 and endpoint = $2 and key_hash = $3",
    values: [scope.userId, scope.endpoint, scope.keyHash, status, answer],
  });
}

async function recall(tx: Transaction, scope: Scope): Promise<Stored | undefined> {
  const { rows } = await tx.query<Stored>({
    name: "idempotency_recall",
    text: "select body_hash, answer from idempotency_records where user_id = $1 and endpoint = $2 and key_hash = $3",
    values: [scope.userId, scope.endpoint, scope.keyHash],
  });
  return rows[0];
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
  if (!request.caller) throw new Error("only a known caller's request can be carried out once");
  const scope = scopeOf(request, request.caller.userId);
  const place = placeOf(scope);
  while (running.has(place)) await running.get(place)?.catch(() => undefined);

  const attempt = inTransaction(db, async (tx) => {
    if (await claim(tx, scope)) {
      const outcome = await work(tx);
      await keep(tx, scope, outcome.status, sealer.seal(JSON.stringify(outcome), place));
      return { outcome, isRepeat: false };
    }
    const stored = await recall(tx, scope);
    if (!stored)
      throw new AppError(
        "idempotency_conflict",
        "The first request with this key just expired, try again",
      );
    if (stored.body_hash !== scope.bodyHash) {
      throw new AppError("idempotency_conflict", "This idempotency key was used with another body");
    }
    return {
      outcome: JSON.parse(sealer.open(stored.answer, place)) as Outcome<Body>,
      isRepeat: true,
    };
  });
  running.set(place, attempt);
  try {
    const { outcome, isRepeat } = await attempt;
    if (isRepeat) reply.header("idempotency-replayed", "true");
    reply.code(outcome.status);
    return outcome.body;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new AppError("idempotency_conflict", "The first request with this key is still running", {
      retryAfterSeconds: 1,
      cause: error,
    });
  } finally {
    running.delete(place);
  }
}

/** Records are kept for a day. */
export async function forgetOldOutcomes(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    "delete from idempotency_records where created_at < now() - interval '24 hours'",
  );
  return rowCount ?? 0;
}
