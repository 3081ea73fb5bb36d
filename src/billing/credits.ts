import type { QueryConfig, QueryResultRow } from "pg";
import type { Db } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { insertNotice } from "./event-queries.ts";

// The credit ledger. What it does, and in which order it locks, is written in the database (migrations/0014_credits.sql):
// each call here is one statement, a change of its own on a pool and a part of the caller's in a transaction.

/** What an entry is for, in words of the room that makes it. The user gets to see it. */
export type CreditReference = Record<string, unknown>;

export interface CreditMove {
  entryId: string;
  /** Right after this entry. */
  balance: number;
  /** False: the key was used before, and this is what it did then. */
  isNew: boolean;
  /** This very entry brought the balance below a tenth of the period's allowance. */
  isLow: boolean;
}

export interface CreditHold extends CreditMove {
  state: "open" | "kept" | "released";
  expiresAt: Date;
}

interface MoveRow {
  entry_id: string | null;
  balance: number;
  is_new: boolean;
  is_low: boolean;
}

/** Without an entry there were too few credits, which is the user's to know. */
function toMove(row: MoveRow, needed: number): CreditMove {
  const { entry_id: entryId, balance, is_new: isNew, is_low: isLow } = row;
  if (entryId !== null) return { entryId, balance, isNew, isLow };
  const message = `Not enough credits: ${needed} needed, ${balance} left`;
  throw new AppError("insufficient_credits", message, { details: { needed, balance } });
}

/** One row, always. */
async function ask<Row extends QueryResultRow>(db: Db, query: QueryConfig): Promise<Row> {
  const { rows } = await db.query<Row>(query);
  const [row] = rows;
  if (!row) throw new Error(`${query.name} answered nothing`);
  return row;
}

export interface PeriodGrant {
  userId: string;
  subscriptionId: string;
  periodStart: Date;
  periodEnd: Date;
  credits: number;
  /** Whether what is left of earlier periods stays. */
  rollsOver: boolean;
}

/** Once per subscription and period start, in any order. True: granted by this call. */
export async function grantPeriod(db: Db, grant: PeriodGrant): Promise<boolean> {
  const { granted } = await ask<{ granted: boolean }>(db, {
    name: "grant_period",
    text: "select grant_period($1, $2, $3, $4, $5, $6) as granted",
    values: [
      grant.userId,
      grant.subscriptionId,
      grant.periodStart,
      grant.periodEnd,
      grant.credits,
      grant.rollsOver,
    ],
  });
  return granted;
}

export interface CreditChange {
  userId: string;
  amount: number;
  /** The same key moves credits once, however often it is sent. */
  key: string;
  reference: CreditReference;
}

async function move(
  db: Db,
  kind: "debit" | "adjustment",
  { userId, amount, key, reference }: CreditChange,
): Promise<CreditMove> {
  const row = await ask<MoveRow>(db, {
    name: "move_credits",
    text: "select * from move_credits($1, $2, $3, $4, $5)",
    values: [userId, kind, amount, key, JSON.stringify(reference)],
  });
  return toMove(row, -amount);
}

/** Who is about to run out is told, once for each time. */
async function tellIfLow(db: Db, userId: string, made: CreditMove): Promise<void> {
  if (!made.isNew || !made.isLow) return;
  const { entryId, balance } = made;
  const key = `credits_low:${entryId}`;
  await insertNotice(db, userId, { kind: "credits_low", key, details: { balance } });
}

/** Throws `insufficient_credits` where the balance is smaller. */
export async function debit(db: Db, change: CreditChange): Promise<CreditMove> {
  const made = await move(db, "debit", { ...change, amount: -change.amount });
  await tellIfLow(db, change.userId, made);
  return made;
}

/** By hand, up or down, never below zero. */
export async function adjust(db: Db, change: CreditChange): Promise<CreditMove> {
  return await move(db, "adjustment", change);
}

/** Gives a debit back, once. */
export async function refund(db: Db, { key }: { key: string }): Promise<CreditMove> {
  const row = await ask<MoveRow>(db, {
    name: "refund_credits",
    text: "select * from refund_credits($1)",
    values: [key],
  });
  return toMove(row, 0);
}

/**
 * A debit that is final only when it is kept. A repeat with the same key finds the same hold, in whatever state it is.
 * One that is still open after `expiresSeconds` is given back.
 */
export async function hold(
  db: Db,
  { userId, amount, key, reference, expiresSeconds }: CreditChange & { expiresSeconds: number },
): Promise<CreditHold> {
  const row = await ask<MoveRow & { state: CreditHold["state"]; expires_at: Date }>(db, {
    name: "hold_credits",
    text: `select (h.move).*, h.state, h.expires_at from hold_credits($1, $2, $3, $4, $5) h`,
    values: [userId, amount, key, JSON.stringify(reference), expiresSeconds],
  });
  const made = toMove(row, amount);
  await tellIfLow(db, userId, made);
  return { ...made, state: row.state, expiresAt: row.expires_at };
}

async function settle(db: Db, key: string, wanted: "kept" | "released"): Promise<string> {
  const { state } = await ask<{ state: string }>(db, {
    name: "settle_hold",
    text: "select settle_hold($1, $2) as state",
    values: [key, wanted],
  });
  return state;
}

/** False: it was released, so what it was for is not paid. The hold expired while its worker was believed dead. */
export async function keepHold(db: Db, key: string): Promise<boolean> {
  return (await settle(db, key, "kept")) === "kept";
}

/** Gives the held credits back, once. What was kept is spent: releasing it is a mistake. */
export async function releaseHold(db: Db, key: string): Promise<void> {
  if ((await settle(db, key, "released")) !== "released")
    throw new Error(`the hold ${key} was kept and can't be released`);
}

/** Gives back what workers that died had held. Returns how many holds, at most 500 a call. */
export async function releaseExpiredHolds(db: Db): Promise<number> {
  const { count } = await ask<{ count: number }>(db, {
    name: "release_expired_holds",
    text: "select release_expired_holds(500) as count",
  });
  return count;
}

/** Ends the periods that are over and were not renewed. Returns how many, at most 500 a call. */
export async function expireEnded(db: Db): Promise<number> {
  const { count } = await ask<{ count: number }>(db, {
    name: "expire_ended",
    text: "select expire_ended(500) as count",
  });
  return count;
}
