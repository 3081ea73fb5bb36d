import { setTimeout as pause } from "node:timers/promises";
import type { Pool as PostgresPool, QueryConfig, QueryResult, QueryResultRow } from "pg";
import type { Logger } from "pino";
import { isUnavailable } from "../db/index.ts";
import type { Pool } from "../db/index.ts";

export type Query = <Row extends QueryResultRow>(
  statement: QueryConfig | string,
  values?: unknown[],
) => Promise<QueryResult<Row>>;

const retryMs = 250;
// A connection that leads nowhere is given up after this; two in a row still make less than 10 seconds.
const answerTimeout = { query_timeout: 4_000 };

/**
 * Waits out a database that is away. graphile-worker (0.18) does not: a lost connection while it records a finished
 * job shuts it down, one in its first fetch leaves it idle for good, and "starting up" makes it pause for minutes.
 * Its statements are safe to repeat, so all of them go through here and it never sees the outage.
 */
export function patientQuery(pool: Pool, log: Logger, giveUp: AbortSignal): Query {
  return async (statement, values) => {
    const config = typeof statement === "string" ? { text: statement, values } : statement;
    for (let failures = 0; ; failures++) {
      try {
        return await pool.query({ ...config, ...answerTimeout });
      } catch (error) {
        if (giveUp.aborted || !isUnavailable(error)) throw error;
        if (failures === 0) log.warn({ err: error }, "waiting for the database");
        await pause(retryMs);
      }
    }
  };
}

/**
 * What graphile-worker needs of a pool. It takes a client for one statement at a time, except for LISTEN, for which
 * it asks with a callback: that one gets a real connection.
 */
export function poolOf(query: Query, listen?: PostgresPool["connect"]): PostgresPool {
  const client = {
    query(statement: QueryConfig | string, values?: unknown[]) {
      // It migrates an older schema when it starts, which the service may not do.
      if (listen && statement === "begin")
        throw new Error("the job queue's schema is older than this code: run the migrations first");
      return query(statement, values);
    },
    release() {},
  };
  const pool = {
    query,
    connect: (callback?: Parameters<PostgresPool["connect"]>[0]) =>
      callback ? listen?.(callback) : Promise.resolve(client),
    options: { max: Number.POSITIVE_INFINITY },
    // It looks whether somebody listens to errors. The pool behind `query` has its listeners.
    listeners: () => [() => undefined],
  };
  return pool as unknown as PostgresPool;
}
