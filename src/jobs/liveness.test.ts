import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { enqueue, queueHealth } from "./index.ts";
import { errand, jobRows, runs, spawnWorker, until } from "./jobs.testing.ts";
import { lockedBy, occupy, scene, startOwnWorker } from "./scene.testing.ts";
import type { Scene } from "./scene.testing.ts";

/** The process that holds the lock of a worker's id. */
async function lockHolder({ owner }: Scene, worker: number): Promise<number | undefined> {
  const { rows } = await owner.query<{ pid: number }>(
    `select l.pid from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
     where l.locktype = 'advisory' and l.objid = $1 and l.objsubid = 2 and l.granted`,
    [worker],
  );
  return rows[0]?.pid;
}

// Each test has a database of its own and mostly waits, so they run side by side.
describe("workers that live", { concurrency: true }, () => {
  test("a paused worker keeps its jobs, as its connection still holds the lock", async () => {
    const database = await scene();
    const paused = await spawnWorker(database.url, 1);
    const jobId = await occupy(database, paused);
    const victim = await spawnWorker(database.url, 1);
    const lost = await occupy(database, victim);
    await startOwnWorker(database);
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

  test("a worker whose connection with the lock is cut takes the lock again and keeps id and jobs", async () => {
    const database = await scene();
    const cut = await spawnWorker(database.url, 1);
    const jobId = await occupy(database, cut);
    const victim = await spawnWorker(database.url, 1);
    const lost = await occupy(database, victim);
    await startOwnWorker(database);
    const holder = await until(async () => await lockHolder(database, cut.id));
    await database.owner.query("select pg_terminate_backend($1)", [holder]);
    // Sooner than another worker could have taken it for dead.
    const fresh = await until(async () => {
      const pid = await lockHolder(database, cut.id);
      return pid !== holder && pid;
    }, 2);
    await victim.end("SIGKILL");
    await until(async () => (await runs(database.db)).filter((r) => r.jobId === lost).length === 2);
    assert.deepEqual(await lockedBy(database, cut.id), [jobId]);
    assert.equal(await lockHolder(database, cut.id), fresh);
    cut.child.send("finish");
    await until(async () => (await jobRows(database.db)).length === 0);
    const own = (await runs(database.db)).filter((run) => run.jobId === jobId);
    assert.deepEqual(
      own.map(({ worker }) => worker),
      [cut.id],
    );
  });

  test("a worker that was declared dead tells its jobs and goes on under a new id", async () => {
    const database = await scene();
    const { worker, signals } = await startOwnWorker(database);
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

  test("a worker that was declared dead begins no job under its old id", async () => {
    const database = await scene();
    const { worker } = await startOwnWorker(database);
    const first = worker.id;
    await enqueue(database.db, errand, {});
    // It has just looked around, so for most of a second it can't know that it was declared dead.
    await until(async () => (await queueHealth(database.db)).lastProgressAt ?? false);
    await database.owner.query("delete from workers");
    const jobId = await enqueue(database.db, errand, {});
    const run = await until(async () =>
      (await runs(database.db)).find((found) => found.jobId === jobId),
    );
    assert.notEqual(run.worker, first);
    assert.equal(run.attempt, 1);
  });

  test("a worker whose library gave up starts anew under a new id", async () => {
    const database = await scene();
    const { worker } = await startOwnWorker(database);
    const first = worker.id;
    await database.owner.query(
      "revoke delete on graphile_worker._private_jobs from herald_service",
    );
    await enqueue(database.db, errand, {});
    await until(() => worker.id !== first);
    await database.owner.query("grant delete on graphile_worker._private_jobs to herald_service");
    await until(async () => (await jobRows(database.db)).length === 0);
    const { rows } = await database.db.query("select id from workers");
    assert.deepEqual(rows, [{ id: worker.id }]);
  });

  test("a job whose fetch was answered to nobody is run after all", async () => {
    const database = await scene();
    const { worker } = await startOwnWorker(database);
    const later = new Date(Date.now() + 3_600_000);
    await enqueue(database.db, errand, {}, { runAt: later });
    await database.owner.query(
      `update graphile_worker._private_jobs
       set run_at = now(), attempts = 1, locked_by = $1, locked_at = now()`,
      [`herald-${worker.id}`],
    );
    const run = await until(async () => (await runs(database.db))[0]);
    assert.equal(run.attempt, 1);
  });

  test("a wedged worker exits non-zero within 15 s; a full one and one with future jobs do not", async (t) => {
    const [wedged, full] = await Promise.all([scene(), scene()]);
    const worker = await spawnWorker(wedged.url, 2);
    const { hangs } = await startOwnWorker(full, 1);
    await enqueue(full.db, errand, { hangIn: process.pid });
    await until(() => hangs.size === 1);
    const waiting = await enqueue(full.db, errand, {});
    // So the full one has had overdue work for longer than the wedged one, by the time that one exits.
    await until(async () => {
      const row = (await jobRows(full.db)).find(({ id }) => id === waiting);
      return row?.lockedBy === null && row.dueIn < -2;
    });
    const idle = await scene();
    await startOwnWorker(idle);
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
