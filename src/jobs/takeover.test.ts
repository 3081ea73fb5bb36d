import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countDeadJobs, enqueue, enqueueMany, listDeadJobs } from "./index.ts";
import { errand, jobRows, runs, spawnWorker, until } from "./jobs.testing.ts";
import { lockedBy, scene, startOwnWorker } from "./scene.testing.ts";

// Each test has a database of its own and mostly waits, so they run side by side.
describe("workers that die", { concurrency: true }, () => {
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

  test("a job that kills its process is dead after its last attempt; one that waited beside it loses nothing", async () => {
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
    await startOwnWorker(database);
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

  test("a job that ran in two workers that died waits before it runs again; one that only waited does not", async () => {
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
    await startOwnWorker(database);
    const run = await until(async () => (await runs(database.db))[0]);
    assert.deepEqual([run.jobId, run.attempt], [bystander, 2]);
    const [row] = await jobRows(database.db);
    assert.partialDeepStrictEqual(row, { id: suspect, attempts: 2, lockedBy: null });
    assert.ok((row?.dueIn ?? 0) > 2 && (row?.dueIn ?? 0) < 1.5 * Math.E ** 2, `${row?.dueIn}`);
  });

  test("jobs locked by a worker that has no row any more are freed as well", async () => {
    const database = await scene();
    await enqueue(database.db, errand, {});
    await database.owner.query(
      "update graphile_worker._private_jobs set locked_by = 'herald-1000', locked_at = now(), attempts = 1",
    );
    await startOwnWorker(database);
    const run = await until(async () => (await runs(database.db))[0]);
    assert.equal(run.attempt, 1);
  });
});
