import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Db } from "../db/index.ts";
import { AppError } from "../errors.ts";
import type { Sealer } from "../sealing.ts";
import { bodyTextOf, endpointOf, idempotencyKeyOf } from "./idempotency-key.ts";

export interface Outcome<Body> {
  status: number;
  body: Body;
}

/** Whose key it is, where it was used, and for what. */
export interface Scope {
  userId: string;
  endpoint: string;
  keyHash: string;
  bodyHash: string;
}

interface Stored {
  body_hash: string;
  answer: string | null;
}

export function scopeOf(request: FastifyRequest): Scope {
  if (!request.caller) throw new Error("only a known caller's request can be carried out once");
  return {
    userId: request.caller.userId,
    endpoint: endpointOf(request),
    keyHash: hash("sha256", idempotencyKeyOf(request)),
    bodyHash: hash("sha256", bodyTextOf(request)),
  };
}

export const placeOf = (scope: Scope): string =>
  `idempotency/${scope.userId}/${scope.endpoint}/${scope.keyHash}`;

/** The outcome of the request that had this key first; null while it is being carried out. */
export async function recall<Body>(
  { db, sealer }: { db: Db; sealer: Sealer },
  scope: Scope,
): Promise<Outcome<Body> | null> {
  const { rows } = await db.query<Stored>({
    name: "idempotency_recall",
    text: "select body_hash, answer from idempotency_records where user_id = $1 and endpoint = $2 and key_hash = $3",
    values: [scope.userId, scope.endpoint, scope.keyHash],
  });
  const [stored] = rows;
  if (!stored)
    throw new AppError(
      "idempotency_conflict",
      "The first request with this key just expired, try again",
    );
  if (stored.body_hash !== scope.bodyHash)
    throw new AppError("idempotency_conflict", "This idempotency key was used with another body");
  if (stored.answer === null) return null;
  return JSON.parse(sealer.open(stored.answer, placeOf(scope))) as Outcome<Body>;
}

/** False: the key is not this holder's any more. */
export async function keep(
  { db, sealer }: { db: Db; sealer: Sealer },
  scope: Scope,
  outcome: Outcome<unknown>,
  holder: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "idempotency_keep",
    text: `update idempotency_records set status = $4, answer = $5, holder = null, leased_until = null
           where user_id = $1 and endpoint = $2 and key_hash = $3 and holder is not distinct from $6`,
    values: [
      scope.userId,
      scope.endpoint,
      scope.keyHash,
      outcome.status,
      sealer.seal(JSON.stringify(outcome), placeOf(scope)),
      holder,
    ],
  });
  return rowCount === 1;
}

export const stillRunning = (cause?: unknown): AppError =>
  new AppError("idempotency_conflict", "The first request with this key is still running", {
    retryAfterSeconds: 1,
    cause,
  });

/** Records are kept for a day. */
export async function forgetOldOutcomes(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    "delete from idempotency_records where created_at < now() - interval '24 hours'",
  );
  return rowCount ?? 0;
}
