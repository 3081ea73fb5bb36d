import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { z } from "zod";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { inTransaction } from "../db/index.ts";
import {
  defineTask,
  enqueue,
  enqueueMany,
  migrateJobs,
  queueHealth,
  startWorker,
} from "./index.ts";
import { jobRows, until } from "./jobs.testing.ts";

const database = await testDatabase();
afterEach(async () => await database.owner.query("truncate graphile_worker._private_jobs"));

const note = defineTask({
  name: "test.note",
  payload: z.object({ n: z.number() }),
  async run() {},
});
const wedges: Error[] = [];
const options = {
  url: database.url,
  log: quiet,
  concurrency: 1,
  tasks: [note],
  onWedged: (error: Error) => void wedges.push(error),
};

test("a job that is enqueued in a transaction that fails does not exist", async () => {
  const failure = new Error("no");
  await assert.rejects(
    inTransaction(database.db, async (tx) => {
      await enqueue(tx, note, { n: 1 });
      await enqueueMany(tx, [{ task: note, payload: { n: 2 } }]);
      throw failure;
    }),
    failure,
  );
  assert.deepEqual(await jobRows(database.db), []);
});

test("enqueued jobs carry their options, one by one or many at once", async () => {
  const runAt = new Date(Date.now() + 60_000);
  const wishes = { runAt, jobKey: "k", priority: 3, maxAttempts: 2, queueName: "q" };
  const id = await enqueue(database.db, note, { n: 1 }, wishes);
  await enqueueMany(database.db, [
    { task: note, payload: { n: 2 }, options: { ...wishes, jobKey: "k2" } },
    { task: { ...note, maxAttempts: 7 }, payload: { n: 3 } },
  ]);
  const { rows } = await database.owner.query(
    "select id, key, priority, max_attempts, queue_name, run_at from graphile_worker.jobs order by id",
  );
  const wanted = { priority: 3, max_attempts: 2, queue_name: "q", run_at: runAt };
  assert.deepEqual(rows[0], { id, key: "k", ...wanted });
  assert.partialDeepStrictEqual(rows[1], { key: "k2", ...wanted });
  assert.partialDeepStrictEqual(rows[2], { key: null, priority: 0, max_attempts: 7 });
});

test("the queue's health tells waiting, dead and stuck apart", async () => {
  const stuck = "update graphile_worker._private_jobs set run_at = now() - interval '30 seconds'";
  assert.partialDeepStrictEqual(await queueHealth(database.db), {
    workers: 0,
    due: 0,
    oldestDueSeconds: 0,
    lastProgressAt: null,
    dead: 0,
    isProgressing: true,
  });
  await enqueue(database.db, note, { n: 1 }, { runAt: new Date(Date.now() + 60_000) });
  assert.partialDeepStrictEqual(await queueHealth(database.db), { due: 0, isProgressing: true });
  await database.owner.query(stuck);
  const health = await queueHealth(database.db);
  assert.partialDeepStrictEqual(health, { due: 1, isProgressing: false });
  assert.ok(health.oldestDueSeconds >= 30 && health.oldestDueSeconds < 40);

  const worker = await startWorker(options);
  const working = await until(async () => {
    const now = await queueHealth(database.db);
    return now.lastProgressAt !== null && now;
  });
  assert.partialDeepStrictEqual(working, { workers: 1, due: 0, isProgressing: true });
  await worker.stop();
  assert.deepEqual(wedges, []);
});

test("the service can use the queue's schema and can't change it", async () => {
  const forbidden = [
    "drop table graphile_worker._private_jobs",
    "alter table graphile_worker._private_jobs add column x int",
    "alter table graphile_worker._private_jobs disable row level security",
    "alter table graphile_worker._private_jobs disable trigger herald_backoff",
    "drop trigger herald_backoff on graphile_worker._private_jobs",
    "drop policy herald_service on graphile_worker._private_jobs",
    "create table graphile_worker.x (id int)",
    "create function graphile_worker.add_job(text) returns int language sql as 'select 1'",
    "create or replace function graphile_worker.herald_backoff() returns trigger language plpgsql as 'begin end'",
    "drop function graphile_worker.force_unlock_workers",
    "truncate graphile_worker._private_jobs",
    "drop schema graphile_worker cascade",
    "insert into graphile_worker.migrations (id) values (999)",
    "alter sequence worker_ids restart",
    "drop table workers",
  ];
  for (const statement of forbidden) {
    await assert.rejects(database.db.query(statement), { code: "42501" }, statement);
  }
});

test("a worker does not start on a schema that is older than its library", async () => {
  const { rows } = await database.owner.query(
    "delete from graphile_worker.migrations where id = (select max(id) from graphile_worker.migrations) returning *",
  );
  await assert.rejects(startWorker(options), /run the migrations first/);
  await database.owner.query(
    "insert into graphile_worker.migrations select * from json_populate_recordset(null::graphile_worker.migrations, $1)",
    [JSON.stringify(rows)],
  );
  const { rows: left } = await database.db.query("select id from workers");
  assert.deepEqual(left, []);
});

test("migrating the queue again changes nothing", async () => {
  const client = await database.owner.connect();
  const facts = `select (select count(*) from pg_policy), (select count(*) from pg_index), (select count(*) from pg_trigger)`;
  const { rows: earlier } = await client.query(facts);
  await migrateJobs(client);
  const { rows: later } = await client.query(facts);
  client.release();
  assert.deepEqual(later, earlier);
});
