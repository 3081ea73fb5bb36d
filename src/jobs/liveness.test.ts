import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import type { TestDatabase } from "../../test/helpers/database.ts";
import { countDeadJobs, enqueue, enqueueMany, listDeadJobs, startWorker } from "./index.ts";
import {
  createRuns,
  errand,
  jobRows,
  recordRun,
  runs,
  spawnWorker,
  until,
} from "./jobs.testing.ts";
import type { WorkerProcess } from "./jobs.testing.ts";

// Each test has a database of its own and mostly waits, so they run side by side.
const scenes = { concurrency: true };

async function scene(): Promise<TestDatabase> {
  const database = await testDatabase();
  await createRuns(database.owner);
  return database;
}

/** A worker in this process, which does errands and is never wedged. */
async function startOwnWorker(t: TestContext, { url, db }: TestDatabase, concurrency = 4) {
  const signals: AbortSignal[] = [];
  const hangs = new Set<string>();
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
    onWedged: (error) => {
      throw error;
    },
  });
  t.after(async () => await worker.stop());
  return { worker, signals, hangs };
}

async function lockedBy(database: TestDatabase, worker: number): Promise<string[]> {
  const rows = await jobRows(database.db);
  return rows.filter((row) => row.lockedBy === `herald-${worker}`).map((row) => row.id);
}

/** Makes the worker hold a job that does not end. */
async function occupy(database: TestDatabase, worker: WorkerProcess): Promise<string> {
  const jobId = await enqueue(database.db, errand, { hangIn: worker.pid });
  await until(async () => (await runs(database.db)).some((run) => run.jobId === jobId));
  return jobId;
}

/** The process that holds the lock of a worker's id. */
async function lockHolder({ owner }: TestDatabase, worker: number): Promise<number | undefined> {
  const { rows } = await owner.query<{ pid: number }>(
    `select l.pid from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
     where l.locktype = 'advisory' and l.objid = $1 and l.objsubid = 2 and l.granted`,
    [worker],
  );
  return rows[0]?.pid;
}

describe("workers that die", scenes, () => {
  test("the jobs of a worker killed with -9, running or waiting, are run by another within 5 s", async (t) => {
    const database = await scene();
    const other = await spawnWorker(database.url, 4);
    const victim = await spawnWorker(database.url, 2);
    other.child.kill("SIGSTOP");
    const specs = Array.from({ length: 4 }, () => ({
      task: errand,
      payload: { hangIn: victim.pid },
      options: { maxAttempts: 2 },
    }));
    await enqueueMany(database.db, specs);
    await until(async () => (await runs(database.db)).length === 2);
    assert.equal((await lockedBy(database, victim.id)).length, 4);
    const killedAt = Date.now();
    victim.child.kill("SIGKILL");
    other.child.kill("SIGCONT");
    await until(async () => (await jobRows(database.db)).length === 0, 5);
    t.diagnostic(`all taken over ${Date.now() - killedAt} ms after the kill`);
    const later = (await runs(database.db)).filter((run) => run.pid === other.pid);
    const attempts = later.map((run) => run.attempt).sort((a, b) => a - b);
    assert.deepEqual(attempts, [1, 1, 2, 2]);
    const { rows } = await database.db.query("select id from workers");
    assert.deepEqual(rows, [{ id: other.id }]);
  });

  test("a job that kills its process is dead after its last attempt; one that waited beside it loses nothing", async (t) => {
    const database = await scene();
    const poison = await enqueue(
      database.db,
      errand,
      { killsProcess: true },
      { maxAttempts: 2, priority: -1 },
    );
    const bystander = await enqueue(database.db, errand, {}, { maxAttempts: 1 });
    for (const attempt of [1, 2]) {
      const worker = await spawnWorker(database.url, 1);
      await until(async () => (await runs(database.db)).some((run) => run.pid === worker.pid), 15);
      await until(() => worker.child.signalCode === "SIGKILL");
      assert.equal((await runs(database.db)).at(-1)?.attempt, attempt);
    }
    await startOwnWorker(t, database);
    await until(async () => (await countDeadJobs(database.db)) === 1);
    assert.deepEqual(
      (await listDeadJobs(database.db)).map(({ id }) => id),
      [poison],
    );
    const run = await until(async () =>
      (await runs(database.db)).find(({ jobId }) => jobId === bystander),
    );
    assert.equal(run.attempt, 1);
  });

  test("a job that ran in two workers that died waits before it runs again; one that only waited does not", async (t) => {
    const database = await scene();
    const suspect = await enqueue(database.db, errand, {});
    const bystander = await enqueue(database.db, errand, {});
    await database.owner.query(
      "update graphile_worker._private_jobs set locked_by = 'herald-1000', locked_at = now(), attempts = 2",
    );
    await database.owner.query(
      "insert into workers (id, host, pid, running) values (1000, 'gone', 1, array[$1::bigint])",
      [suspect],
    );
    await startOwnWorker(t, database);
    const run = await until(async () => (await runs(database.db))[0]);
    assert.deepEqual([run.jobId, run.attempt], [bystander, 2]);
    const [row] = await jobRows(database.db);
    assert.partialDeepStrictEqual(row, { id: suspect, attempts: 2, lockedBy: null });
    assert.ok((row?.dueIn ?? 0) > 2 && (row?.dueIn ?? 0) < 1.5 * Math.E ** 2, `${row?.dueIn}`);
  });

  test("jobs locked by a worker that has no row any more are freed as well", async (t) => {
    const database = await scene();
    await enqueue(database.db, errand, {});
    await database.owner.query(
      "update graphile_worker._private_jobs set locked_by = 'herald-1000', locked_at = now(), attempts = 1",
    );
    await startOwnWorker(t, database);
    const run = await until(async () => (await runs(database.db))[0]);
    assert.equal(run.attempt, 1);
  });
});

describe("workers that live", scenes, () => {
  test("a paused worker keeps its jobs, as its connection still holds the lock", async (t) => {
    const database = await scene();
    const paused = await spawnWorker(database.url, 1);
    const jobId = await occupy(database, paused);
    const victim = await spawnWorker(database.url, 1);
    const lost = await occupy(database, victim);
    await startOwnWorker(t, database);
    paused.child.kill("SIGSTOP");
    await victim.end("SIGKILL");
    // That the victim's job was taken over shows that time enough has passed for the paused one's.
    await until(async () => (await runs(database.db)).filter((r) => r.jobId === lost).length === 2);
    assert.deepEqual(await lockedBy(database, paused.id), [jobId]);
    paused.child.kill("SIGCONT");
    paused.child.send("finish");
    await until(async () => (await jobRows(database.db)).length === 0);
    assert.equal((await runs(database.db)).filter((run) => run.jobId === jobId).length, 1);
  });

  test("a worker whose connection with the lock is cut takes the lock again and keeps id and jobs", async (t) => {
    const database = await scene();
    const cut = await spawnWorker(database.url, 1);
    const jobId = await occupy(database, cut);
    const victim = await spawnWorker(database.url, 1);
    const lost = await occupy(database, victim);
    await startOwnWorker(t, database);
    const holder = await until(async () => await lockHolder(database, cut.id));
    await database.owner.query("select pg_terminate_backend($1)", [holder]);
    await victim.end("SIGKILL");
    await until(async () => (await runs(database.db)).filter((r) => r.jobId === lost).length === 2);
    assert.deepEqual(await lockedBy(database, cut.id), [jobId]);
    assert.notEqual(await lockHolder(database, cut.id), holder);
    cut.child.send("finish");
    await until(async () => (await jobRows(database.db)).length === 0);
    const own = (await runs(database.db)).filter((run) => run.jobId === jobId);
    assert.deepEqual(
      own.map(({ worker }) => worker),
      [cut.id],
    );
  });

  test("a worker that was declared dead tells its jobs and goes on under a new id", async (t) => {
    const database = await scene();
    const { worker, signals } = await startOwnWorker(t, database);
    const first = worker.id;
    await enqueue(database.db, errand, { hangIn: process.pid });
    await until(async () => (await lockedBy(database, first)).length === 1 && signals.length === 1);
    await database.owner.query("delete from workers");
    await database.owner.query("select graphile_worker.force_unlock_workers($1)", [
      [`herald-${first}`],
    ]);
    await until(() => signals[0]?.aborted);
    await until(() => worker.id !== first);
    const jobId = await enqueue(database.db, errand, {});
    const run = await until(async () =>
      (await runs(database.db)).find((found) => found.jobId === jobId),
    );
    assert.equal(run.worker, worker.id);
    const { rows } = await database.db.query("select id from workers");
    assert.deepEqual(rows, [{ id: worker.id }]);
  });

  test("a worker that was declared dead begins no job under its old id", async (t) => {
    const database = await scene();
    const { worker } = await startOwnWorker(t, database);
    const first = worker.id;
    await database.owner.query("delete from workers");
    const jobId = await enqueue(database.db, errand, {});
    const run = await until(async () => (await runs(database.db))[0]);
    assert.notEqual(run.worker, first);
    assert.deepEqual([run.jobId, run.attempt], [jobId, 1]);
  });

  test("a job whose fetch was answered to nobody is run after all", async (t) => {
    const database = await scene();
    const { worker } = await startOwnWorker(t, database);
    const later = new Date(Date.now() + 3_600_000);
    await enqueue(database.db, errand, {}, { runAt: later });
    await database.owner.query(
      `update graphile_worker._private_jobs
       set run_at = now(), attempts = 1, locked_by = $1, locked_at = now() - interval '20 seconds'`,
      [`herald-${worker.id}`],
    );
    const run = await until(async () => (await runs(database.db))[0]);
    assert.equal(run.attempt, 1);
  });

  test("a wedged worker exits non-zero within 15 s; a full one and one with future jobs do not", async (t) => {
    const [wedged, full] = await Promise.all([scene(), scene()]);
    const worker = await spawnWorker(wedged.url, 2);
    const { hangs } = await startOwnWorker(t, full, 1);
    await enqueue(full.db, errand, { hangIn: process.pid });
    await until(() => hangs.size === 1);
    await enqueue(full.db, errand, {});
    const idle = await scene();
    await startOwnWorker(t, idle);
    await enqueue(idle.db, errand, {}, { runAt: new Date(Date.now() + 3_600_000) });

    await wedged.owner.query("revoke update on graphile_worker._private_jobs from herald_service");
    await enqueue(wedged.owner, errand, {});
    const dueAt = Date.now();
    await until(() => worker.child.exitCode !== null, 15);
    t.diagnostic(`exited ${Date.now() - dueAt} ms after the job was due`);
    assert.equal(worker.child.exitCode, 3);
    assert.equal(hangs.size, 1);
  });
});
