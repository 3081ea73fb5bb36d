import { AsyncLocalStorage } from "node:async_hooks";
import { isUnavailable } from "../db/index.ts";
import type { Pool, Transaction } from "../db/index.ts";

// Better Auth makes a 401, a 422 or even a 200 of a database that is away. So its queries are watched, and a call during
// which the database was away fails with the database's own error, whatever Better Auth made of it.
const calls = new AsyncLocalStorage<{ outage?: Error }>();

function noteOutage(error: Error): never {
  const call = calls.getStore();
  if (call && isUnavailable(error)) call.outage ??= error;
  throw error;
}

export async function failingWithTheDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
  const call: { outage?: Error } = {};
  try {
    const result = await calls.run(call, work);
    if (!call.outage) return result;
  } catch (error) {
    if (!call.outage) throw error;
  }
  throw call.outage;
}

// An error nobody listens to would end the process. A lost connection fails the next query, which is enough.
const ignore = (): void => {};

/**
 * A connection that is taken from the pool with the first write. A sign-up begins a transaction, reads, hashes the
 * password for a tenth of a second, and writes: it must not keep a connection from everybody else meanwhile. What it
 * reads before its first write is the same outside the transaction, as that is "read committed".
 */
function lateConnection(pool: Pool) {
  let client: Transaction | undefined;
  let isTransaction = false;

  async function query(sql: string, parameters: unknown[]) {
    if (!client) {
      if (sql === "begin") isTransaction = true;
      if (["begin", "commit", "rollback"].includes(sql)) {
        return { command: sql.toUpperCase(), rowCount: 0, rows: [] };
      }
      if (sql.startsWith("select ")) return await pool.query(sql, parameters);
      client = await pool.connect();
      client.on("error", ignore);
      if (isTransaction) await client.query("begin");
    }
    return await client.query(sql, parameters);
  }

  return {
    query: (sql: string, parameters: unknown[]) => query(sql, parameters).catch(noteOutage),
    release(isBroken?: boolean): void {
      client?.off("error", ignore);
      client?.release(isBroken);
    },
  };
}

/** The service's pool, as much of it as Better Auth uses. */
export function watchedPool(pool: Pool) {
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: () => Promise.resolve(lateConnection(pool)),
  };
}
