import { Pool as PostgresPool } from "pg";
import type { PoolClient } from "pg";
import type { Logger } from "pino";

export type Pool = PostgresPool;
export type Transaction = PoolClient;
/** What a query function takes: the pool for a statement alone, a transaction for a part of a change. */
export type Db = Pool | Transaction;

/** The role every process of the service runs as. It can't change the schema, the audit log or the ledger. */
export const serviceRole = "herald_service";

export interface PoolOptions {
  url: string;
  name: string;
  size: number;
  role?: string;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
}

export function createPool(options: PoolOptions, log: Logger): Pool {
  const { statementTimeoutMs = 10_000, lockTimeoutMs = 5_000 } = options;
  const settings = [
    `statement_timeout=${statementTimeoutMs}`,
    `lock_timeout=${lockTimeoutMs}`,
    "idle_in_transaction_session_timeout=30000",
    ...(options.role ? [`role=${options.role}`] : []),
  ];
  const pool = new PostgresPool({
    connectionString: options.url,
    application_name: options.name,
    max: options.size,
    options: settings.map((setting) => `-c ${setting}`).join(" "),
    connectionTimeoutMillis: 2_000,
    // A server that vanished without closing its connections never answers: give up on our side too.
    query_timeout: statementTimeoutMs + 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
  });
  // A lost idle connection is replaced at the next query; without a listener it would end the process.
  pool.on("error", (error) =>
    log.warn({ err: error, pool: options.name }, "idle database connection lost"),
  );
  return pool;
}
