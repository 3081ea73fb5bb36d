import { setTimeout as pause } from "node:timers/promises";
import { isSerializationFailure } from "./failures.ts";
import type { Pool, Transaction } from "./pool.ts";

const attempts = 6;

/**
 * Runs `work` in one transaction. A deadlock or serialization failure rolls everything back and runs it again,
 * so `work` may only touch the database.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(pool, work);
    } catch (error) {
      if (attempt === attempts || !isSerializationFailure(error)) throw error;
      await pause(Math.random() * 50 * 2 ** attempt);
    }
  }
}

async function runOnce<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const tx = await pool.connect();
  let broken: Error | undefined;
  // A connection can be lost between two statements, when nobody waits for an answer: the next statement fails then.
  const onLost = (error: Error): void => void (broken = error);
  tx.on("error", onLost);
  try {
    await tx.query("begin");
    const result = await work(tx);
    await tx.query("commit");
    return result;
  } catch (error) {
    await tx.query("rollback").catch((rollbackError: Error) => (broken = rollbackError));
    throw error;
  } finally {
    // A connection whose rollback failed is in an unknown state: it is closed, not reused.
    tx.off("error", onLost);
    tx.release(broken);
  }
}
