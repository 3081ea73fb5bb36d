import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { pino } from "pino";
import type { Logger } from "pino";
import { z } from "zod";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import {
  Abandon,
  RetryLater,
  countDeadJobs,
  defineTask,
  enqueue,
  enqueueMany,
  listDeadJobs,
  retryDeadJob,
  startWorker,
} from "./index.ts";
import type { CrontabEntry, JobContext, Task } from "./index.ts";
import { jobRows, until } from "./jobs.testing.ts";

const database = await testDatabase();
const workers: { stop(): Promise<void> }[] = [];
const wedges: Error[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  assert.deepEqual(wedges, []);
  await database.owner.query("truncate graphile_worker._private_jobs, workers");
});

async function work(
  tasks: Task[],
  more: { crontab?: CrontabEntry[]; concurrency?: number; log?: Logger; graceMs?: number } = {},
) {
  const worker = await startWorker({
    url: database.url,
    log: quiet,
    concurrency: 4,
    ...more,
    tasks,
    onWedged: (error) => void wedges.push(error),
  });
  workers.push(worker);
  return worker;
}

const noted: { payload: unknown; context: JobContext }[] = [];
const note = defineTask({
  name: "test.note",
  payload: z.strictObject({ n: z.number() }),
  async run(payload, context) {
    noted.push({ payload, context });
  },
});
afterEach(() => void noted.splice(0));

test("each job runs once, however many workers there are", async () => {
  await Promise.all([work([note]), work([note]), work([note])]);
  const numbers = Array.from({ length: 300 }, (_, n) => n);
  await enqueueMany(
    database.db,
    numbers.map((n) => ({ task: note, payload: { n } })),
  );
  await until(async () => (await jobRows(database.db)).length === 0);
  const seen = noted.map(({ payload }) => (payload as { n: number }).n).sort((a, b) => a - b);
  assert.deepEqual(seen, numbers);
});

test("a finished job is one log line with its facts", async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const worker = await work([note], { log: pino({ level: "info" }, { write }) });
  const jobId = await enqueue(database.db, note, { n: 1 });
  const line = await until(() => lines.find(({ msg }) => msg === "job"));
  assert.partialDeepStrictEqual(line, {
    worker: worker.id,
    task: "test.note",
    jobId,
    attempt: 1,
    outcome: "succeeded",
  });
  assert.equal(typeof line["ms"], "number");
  assert.equal(lines.length, 1);
  assert.deepEqual(
    [noted[0]?.context.jobId, noted[0]?.context.attempt, noted[0]?.context.isLastAttempt],
    [jobId, 1, false],
  );
});

test("a payload that does not fit is a dead job at once, and can be retried", async () => {
  await work([note]);
  const id = await enqueue(database.db, { ...note, payload: z.unknown() }, { n: "one" });
  await until(async () => (await countDeadJobs(database.db)) === 1);
  const [dead] = await listDeadJobs(database.db);
  assert.partialDeepStrictEqual(dead, { id, task: "test.note", payload: { n: "one" } });
  assert.match(dead?.error ?? "", /does not fit test\.note/);
  assert.deepEqual(await listDeadJobs(database.db, { before: id }), []);
  assert.equal(noted.length, 0);

  await database.owner.query(
    `update graphile_worker._private_jobs set payload = '{"n": 1}' where id = $1`,
    [id],
  );
  assert.equal(await retryDeadJob(database.db, id), true);
  await until(() => noted.length === 1);
  assert.equal(noted[0]?.context.attempt, 1);
  assert.equal(await retryDeadJob(database.db, id), false);
});

test("jobs that fail together come back at different times, and are dead after the last attempt", async () => {
  const failing = defineTask({
    name: "test.failing",
    payload: z.object({}),
    async run() {
      throw new Error("no luck");
    },
  });
  await work([failing]);
  const specs = Array.from({ length: 8 }, () => ({ task: failing, payload: {} }));
  await enqueueMany(database.db, specs);
  const lastChance = await enqueue(database.db, failing, {}, { maxAttempts: 1 });
  await until(async () => (await jobRows(database.db)).every(({ error }) => error === "no luck"));
  const rows = await jobRows(database.db);
  const pauses = rows.filter(({ id }) => id !== lastChance).map(({ dueIn }) => dueIn);
  assert.ok(
    pauses.every((pause) => pause > 0 && pause < 1.5 * Math.E),
    String(pauses),
  );
  assert.ok(Math.max(...pauses) - Math.min(...pauses) > 0.3, String(pauses));
  assert.deepEqual(
    (await listDeadJobs(database.db)).map(({ id }) => id),
    [lastChance],
  );
});

test("a task can ask to come back at a time, without losing an attempt", async () => {
  const moody = defineTask({
    name: "test.moody",
    payload: z.object({ seconds: z.number() }),
    async run({ seconds }, { attempt }) {
      const isDate = seconds === 100;
      const when = isDate ? new Date(Date.now() + seconds * 1_000) : seconds;
      if (attempt === 1) throw new RetryLater(when, "not now");
    },
  });
  await work([moody]);
  const asked = [100, 200, 1e9, -5];
  const specs = asked.map((seconds) => ({ task: moody, payload: { seconds } }));
  await enqueueMany(database.db, specs);
  await until(async () => (await jobRows(database.db)).every(({ error }) => error === "not now"));
  const rows = await jobRows(database.db);
  for (const [index, wanted] of [100, 200, 86_400].entries()) {
    const { dueIn = 0, attempts } = rows[index] ?? {};
    assert.ok(Math.abs(dueIn - wanted) < 3, `${wanted}: ${dueIn}`);
    assert.equal(attempts, 0);
  }
  assert.ok((rows[3]?.dueIn ?? 9) <= 1);
});

test("a task can give up for good", async () => {
  const hopeless = defineTask({
    name: "test.hopeless",
    payload: z.object({}),
    async run() {
      throw new Abandon("never");
    },
  });
  await work([hopeless]);
  await enqueue(database.db, hopeless, {});
  const [dead] = await until(async () => {
    const jobs = await listDeadJobs(database.db);
    return jobs.length > 0 && jobs;
  });
  assert.equal(dead?.error, "never");
});

test("however many workers share a crontab, each time of it is enqueued once, without the library's own field", async () => {
  await database.owner.query(
    `insert into graphile_worker._private_known_crontabs (identifier, known_since)
     values ('test.note', now() - interval '1 hour')`,
  );
  const options = { backfillPeriod: 5 * 60_000 };
  const crontab = [{ task: note, pattern: "* * * * *", payload: { n: 5 }, options }];
  await Promise.all([work([note], { crontab }), work([note], { crontab })]);
  await until(() => noted.length >= 5);
  await until(async () => (await jobRows(database.db)).length === 0);
  // The run of a minute that begins during the test may be among them.
  assert.ok(noted.length === 5 || noted.length === 6, `${noted.length} runs`);
  assert.deepEqual(noted[0]?.payload, { n: 5 });
});

test("a graceful stop waits for what runs, gives back what waits, and leaves no trace", async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow = defineTask({
    name: "test.slow",
    payload: z.object({}),
    async run() {
      begun.resolve();
      await release.promise;
    },
  });
  const worker = await work([slow], { concurrency: 1 });
  await enqueueMany(database.db, [
    { task: slow, payload: {} },
    { task: slow, payload: {} },
  ]);
  await begun.promise;
  const stopped = worker.stop();
  await until(async () => {
    const rows = await jobRows(database.db);
    return rows.filter(({ lockedBy }) => lockedBy !== null).length === 1;
  });
  release.resolve();
  await stopped;
  const rows = await jobRows(database.db);
  assert.equal(rows.length, 1);
  assert.partialDeepStrictEqual(rows[0], { attempts: 0, lockedBy: null, error: null });
  const { rows: left } = await database.db.query("select id from workers");
  assert.deepEqual(left, []);
});

test("a job that outlasts the grace of a stop is told by its signal", async () => {
  const begun = Promise.withResolvers<void>();
  const endless = defineTask({
    name: "test.endless",
    payload: z.object({}),
    async run(_payload, { signal }) {
      begun.resolve();
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("told to end")));
      });
    },
  });
  const worker = await work([endless], { graceMs: 100 });
  await enqueue(database.db, endless, {});
  await begun.promise;
  await worker.stop();
  const [row] = await jobRows(database.db);
  assert.partialDeepStrictEqual(row, { attempts: 1, lockedBy: null, error: "told to end" });
});
