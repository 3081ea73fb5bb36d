import { Client } from "pg";
import type { Logger } from "pino";
import { serviceRole } from "../db/index.ts";
import type { Query } from "./patient-pool.ts";

/** One connection, kept: what it locks is ours for as long as it lives. */
export interface Session {
  query: Query;
  /** In how many looks in a row over this connection a worker's lock was free. */
  sightings: Map<number, number>;
  /** Aborted as soon as the connection is known to be lost. */
  lost: AbortSignal;
  close(): Promise<void>;
}

// A connection that leads nowhere is noticed on both sides within 10 seconds: here as a statement is not answered,
// at the server as its probes are not. Until then the server holds the lock of a machine that is gone.
const settings = [
  `role=${serviceRole}`,
  "statement_timeout=3500",
  "lock_timeout=3000",
  "idle_in_transaction_session_timeout=5000",
  "tcp_keepalives_idle=4",
  "tcp_keepalives_interval=1",
  "tcp_keepalives_count=4",
  "tcp_user_timeout=8000",
];
const answerTimeoutMs = 4_000;

export async function openSession(url: string, log: Logger): Promise<Session> {
  const client = new Client({
    connectionString: url,
    application_name: "herald worker lock",
    options: settings.map((setting) => `-c ${setting}`).join(" "),
    connectionTimeoutMillis: 2_000,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
  });
  const lost = new AbortController();
  client.on("error", (error) => log.warn({ err: error }, "the connection with the lock is lost"));
  client.on("end", () => lost.abort());
  await client.connect();
  return {
    query: (statement, values) => client.query(statement, values),
    sightings: new Map(),
    lost: lost.signal,
    close: () => client.end(),
  };
}
