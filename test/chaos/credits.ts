import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { checkCredits } from "../../src/billing/credits-check.ts";
import { adjust, debit, expireEnded, releaseExpiredHolds } from "../../src/billing/credits.ts";
import {
  createPool,
  createServiceLogin,
  insist,
  serviceRole,
  startEmbeddedPostgres,
} from "../../src/db/index.ts";
import type { Pool } from "../../src/db/index.ts";
import { AppError } from "../../src/errors.ts";
import { migrateAll } from "../../src/migrate.ts";
import { quiet } from "../helpers/database.ts";
import { createClient } from "./credits-client.ts";
import type { Client } from "./credits-client.ts";

// Many clients grant, debit, refund and hold at once, while the database is killed and comes back. At every checkpoint
// each balance is the sum of its ledger; in the end the ledger holds exactly what the clients were told.

export interface CreditsOptions {
  users: number;
  operations: number;
  clients: number;
  restarts: number;
  seed: number;
}

export interface CreditsReport {
  operations: number;
  applied: number;
  refused: number;
  /** Answers that were lost, so that the client asked again. */
  repeated: number;
  entries: number;
  restarts: number;
  checkpoints: number;
  seconds: number;
  problems: string[];
}

interface Ledger {
  connect(size: number): Pool;
  killDatabase(): Promise<void>;
}

/** A database of its own, that can be killed. */
async function withLedger<Result>(work: (ledger: Ledger) => Promise<Result>): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), "herald-credits-"));
  const dataDir = join(dir, "postgres");
  let postgres = await startEmbeddedPostgres({ dataDir });
  const pools: Pool[] = [];
  try {
    await migrateAll(postgres.url, quiet);
    const url = await createServiceLogin(postgres.url);
    return await work({
      connect(size) {
        const pool = createPool({ url, name: "chaos", size, role: serviceRole }, quiet);
        pools.push(pool);
        return pool;
      },
      async killDatabase() {
        process.kill(postgres.pid, "SIGKILL");
        postgres = await startEmbeddedPostgres({ dataDir });
      },
    });
  } finally {
    await Promise.all(pools.map(async (pool) => await pool.end()));
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

async function checkpoint(db: Pool, problems: string[]): Promise<number> {
  const { entries } = await insist(
    async () =>
      await checkCredits(db, (difference) =>
        problems.push(`differs: ${JSON.stringify(difference)}`),
      ),
  );
  return entries;
}

/** What is in the ledger against what its clients were told. */
async function compare(db: Pool, told: Map<string, number>): Promise<string[]> {
  const { rows } = await db.query<{ key: string; amount: number }>(
    "select idempotency_key as key, amount from credit_entries where kind <> 'expiry'",
  );
  const problems: string[] = [];
  for (const { key, amount } of rows) {
    if (told.get(key) !== amount) problems.push(`${key} moved ${amount}, told ${told.get(key)}`);
    told.delete(key);
  }
  for (const key of told.keys()) problems.push(`${key} is not in the ledger`);
  const open = await db.query("select key from credit_holds where state = 'open'");
  if (open.rowCount !== 0) problems.push(`${open.rowCount} holds are still open`);
  return problems;
}

function addCounts(clients: Client[]): Client["counts"] {
  const sum = (count: keyof Client["counts"]): number =>
    clients.reduce((total, client) => total + client.counts[count], 0);
  return { applied: sum("applied"), refused: sum("refused"), repeated: sum("repeated") };
}

/** Also when one of them failed the others are waited for: the database goes away after this. */
async function allEnded(loops: Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(loops)).find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
}

export async function chaosCredits(options: CreditsOptions): Promise<CreditsReport> {
  const { users, operations, restarts, seed } = options;
  return await withLedger(async (ledger) => {
    const db = ledger.connect(2);
    const clients = Array.from({ length: options.clients }, (_, index) =>
      createClient({ connections: [ledger.connect(1), ledger.connect(1)], index, users, seed }),
    );
    const problems: string[] = [];
    const startedAt = performance.now();
    let begun = 0;
    let checkpoints = 0;
    let isOver = false;

    const work = async (client: Client): Promise<void> => {
      while (begun < operations && !isOver) {
        begun += 1;
        await client.act();
      }
    };
    const sweep = async (): Promise<void> => {
      while (!isOver) {
        await insist(async () => [await releaseExpiredHolds(db), await expireEnded(db)]);
        await pause(20);
      }
    };
    const disturb = async (): Promise<void> => {
      for (let kill = 1; kill <= restarts; kill++) {
        while (begun < (operations * kill) / (restarts + 1) && !isOver) await pause(5);
        await ledger.killDatabase();
        await checkpoint(db, problems);
        checkpoints += 1;
      }
    };
    const stop = (): void => void (isOver = true);
    const working = allEnded(clients.map(async (client) => await work(client).finally(stop)));
    await allEnded([working, sweep().finally(stop), disturb()]);
    for (let left = operations; left > 0 && (await releaseExpiredHolds(db)) > 0; left -= 500);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const entries = await checkpoint(db, problems);
    const told = new Map(clients.flatMap((client) => [...client.told]));
    problems.push(...clients.flatMap((client) => client.problems), ...(await compare(db, told)));
    const counts = addCounts(clients);
    checkpoints += 1;
    return { operations, ...counts, entries, restarts, checkpoints, seconds, problems };
  });
}

export interface LastCreditReport {
  rounds: number;
  /** Rounds with exactly one debit done, and all others refused. */
  right: number;
  problems: string[];
}

/** One credit, and everybody wants it at once. */
export async function spendLastCredit(
  db: Pool,
  { rounds, debits }: { rounds: number; debits: number },
): Promise<LastCreditReport> {
  const report: LastCreditReport = { rounds, right: 0, problems: [] };
  for (let round = 0; round < rounds; round++) {
    const change = { userId: `last_${round}`, amount: 1, reference: {} };
    await adjust(db, { ...change, key: `last:${round}` });
    const outcomes = await Promise.allSettled(
      Array.from(
        { length: debits },
        async (_, index) => await debit(db, { ...change, key: `last:${round}:${index}` }),
      ),
    );
    const done = outcomes.filter((each) => each.status === "fulfilled").length;
    const refused = outcomes.filter(
      (each) =>
        each.status === "rejected" &&
        each.reason instanceof AppError &&
        each.reason.code === "insufficient_credits",
    ).length;
    if (done === 1 && refused === debits - 1) report.right += 1;
    else report.problems.push(`round ${round}: ${done} done, ${refused} refused`);
  }
  return report;
}

/** The full form: every debit on a connection of its own. */
export async function chaosLastCredit(rounds: number, debits: number): Promise<LastCreditReport> {
  return await withLedger(
    async (ledger) => await spendLastCredit(ledger.connect(debits), { rounds, debits }),
  );
}
