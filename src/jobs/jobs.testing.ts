// What the tests of this room share: runs written down in the database, and workers as processes of their own.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { Db, Pool } from "../db/index.ts";
import type { JobContext } from "./index.ts";

/** Done by the workers of worker.fixture.ts, and by whatever a test starts in its own process. */
export const errand = {
  name: "test.errand",
  payload: z.object({ hangIn: z.number().optional(), killsProcess: z.boolean().optional() }),
} as const;

export interface Run {
  jobId: string;
  attempt: number;
  pid: number;
  worker: number;
  at: Date;
}

export async function createRuns(owner: Pool): Promise<void> {
  await owner.query(
    `create table test_runs (job_id bigint, attempt int, pid int, worker int, at timestamptz default clock_timestamp())`,
  );
}

export async function recordRun(db: Db, context: JobContext, worker: number): Promise<void> {
  await db.query("insert into test_runs (job_id, attempt, pid, worker) values ($1, $2, $3, $4)", [
    context.jobId,
    context.attempt,
    process.pid,
    worker,
  ]);
}

export async function runs(db: Db): Promise<Run[]> {
  const { rows } = await db.query<Run>(
    `select job_id as "jobId", attempt, pid, worker, at from test_runs order by at`,
  );
  return rows;
}

export interface JobRow {
  id: string;
  attempts: number;
  lockedBy: string | null;
  error: string | null;
  /** Seconds until it is due. */
  dueIn: number;
}

export async function jobRows(db: Db): Promise<JobRow[]> {
  const { rows } = await db.query<JobRow>(
    `select id, attempts, locked_by as "lockedBy", last_error as error,
       extract(epoch from run_at - clock_timestamp())::float8 as "dueIn"
     from graphile_worker._private_jobs order by id`,
  );
  return rows;
}

/** Collects what has to end with the test. To be called before anything that it uses is made: hooks run in order. */
export function endings(): (end: () => Promise<void>) => void {
  const ends: (() => Promise<void>)[] = [];
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return (end) => void ends.push(end);
}

/** Looks again and again; fails with the claim's own text. */
export async function until<Fact>(
  claim: () => Promise<Fact | false | undefined> | Fact | false | undefined,
  seconds = 10,
): Promise<Fact> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const fact = await claim();
    if (fact !== false && fact !== undefined) return fact;
    assert.ok(performance.now() < deadline, `not within ${seconds} s: ${claim.toString()}`);
    await delay(10);
  }
}

export interface WorkerProcess {
  id: number;
  pid: number;
  child: ChildProcess;
  /** Sends the signal; resolves when the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

export async function spawnWorker(url: string, concurrency: number): Promise<WorkerProcess> {
  const child = fork(new URL("worker.fixture.ts", import.meta.url), [url, String(concurrency)]);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  after(async () => await end("SIGKILL"));
  const [id] = (await once(child, "message")) as [number];
  return { id, pid: child.pid ?? 0, child, end };
}
