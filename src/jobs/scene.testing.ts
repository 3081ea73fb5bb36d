// A database of its own for a test in which workers die or are taken for dead, and the workers in it.
import assert from "node:assert/strict";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import type { TestDatabase } from "../../test/helpers/database.ts";
import { enqueue, startWorker } from "./index.ts";
import { createRuns, endings, errand, jobRows, recordRun, runs, until } from "./jobs.testing.ts";
import type { WorkerProcess } from "./jobs.testing.ts";

export interface Scene extends TestDatabase {
  onEnd(end: () => Promise<void>): void;
}

export async function scene(): Promise<Scene> {
  const onEnd = endings();
  const database = await testDatabase();
  await createRuns(database.owner);
  return { ...database, onEnd };
}

/** A worker in this process, which does errands and must not be wedged. */
export async function startOwnWorker({ url, db, onEnd }: Scene, concurrency = 4) {
  const signals: AbortSignal[] = [];
  const hangs = new Set<string>();
  const wedges: Error[] = [];
  const worker = await startWorker({
    url,
    log: quiet,
    concurrency,
    graceMs: 100,
    tasks: [
      {
        ...errand,
        async run({ hangIn }, context) {
          signals.push(context.signal);
          await recordRun(db, context, worker.id);
          if (hangIn !== process.pid) return;
          hangs.add(context.jobId);
          await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        },
      },
    ],
    onWedged: (error) => void wedges.push(error),
  });
  onEnd(async () => {
    await worker.stop();
    assert.deepEqual(wedges, []);
  });
  return { worker, signals, hangs };
}

export async function lockedBy(database: TestDatabase, worker: number): Promise<string[]> {
  const rows = await jobRows(database.db);
  return rows.filter((row) => row.lockedBy === `herald-${worker}`).map((row) => row.id);
}

/** Makes the worker hold a job that does not end. */
export async function occupy(database: TestDatabase, worker: WorkerProcess): Promise<string> {
  const jobId = await enqueue(database.db, errand, { hangIn: worker.pid });
  await until(async () => (await runs(database.db)).some((run) => run.jobId === jobId));
  return jobId;
}
