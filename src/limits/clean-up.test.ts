import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../test/helpers/database.ts";
import { cleanUpLimits, cleanUpTask } from "./clean-up.ts";

const { db } = await testDatabase();

async function fill(count: number, age: string): Promise<void> {
  await db.query(
    `insert into rate_limit_windows (bucket, hits, is_admitted, updated_at)
     select $2 || i, array[now() - $2::interval], true, now() - $2::interval from generate_series(1, $1) i`,
    [count, age],
  );
}

test("records older than 24 hours are removed, 500 at most a run, the oldest first", async () => {
  await fill(520, "25 hours");
  await fill(30, "3 days");
  await fill(10, "23 hours");
  assert.equal(await cleanUpLimits(db), 500);
  const { rows } = await db.query<{ left: number }>(
    "select count(*)::int as left from rate_limit_windows where updated_at < now() - interval '2 days'",
  );
  assert.equal(rows[0]?.left, 0);
  assert.equal(await cleanUpLimits(db), 50);
  assert.equal(await cleanUpLimits(db), 0);
  assert.equal((await db.query("select from rate_limit_windows")).rowCount, 10);
});

test("a failed run is retried three times", () => {
  assert.equal(cleanUpTask(db).maxAttempts, 4);
});
