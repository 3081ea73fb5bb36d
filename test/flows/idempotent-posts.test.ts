import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { batched, createPool, serviceRole } from "../../src/db/index.ts";
import { acceptMany } from "../../src/posts/queries.ts";
import type { Acceptance, NewSubmission } from "../../src/posts/queries.ts";
import { uuidv7 } from "../../src/posts/uuid.ts";
import { quiet, testDatabase } from "../helpers/database.ts";

// HERALD_FULL=1 is the full form.
const keys = process.env["HERALD_FULL"] ? 1_000 : 60;
const calls = 50;

const { url, db } = await testDatabase();

/** As one process of the API accepts posts: its own pool, its own batches. */
function startProcessLike(): (submission: NewSubmission) => Promise<Acceptance> {
  const pool = createPool({ url, name: "api", size: 4, role: serviceRole }, quiet);
  after(async () => await pool.end());
  return batched(async (submissions: NewSubmission[]) => await acceptMany(pool, submissions));
}

test(`${keys} keys, ${calls} parallel calls each over 4 processes: one submission and one job per key`, async () => {
  const processes = Array.from({ length: 4 }, startProcessLike);
  const userId = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: keys * calls }, async (_, index) => {
      const key = `key ${index % keys}`;
      const id = uuidv7();
      const accepted = await processes[index % 4]?.({
        id,
        userId,
        keyId: null,
        endpoint: "POST /v1/posts",
        keyHash: hash("sha256", key),
        bodyHash: hash("sha256", key),
        answer: id,
        content: { text: key },
        targets: [],
        scheduledTime: "2099-01-01T00:00:00Z",
        enableRepurposing: false,
        trialReel: false,
      });
      return { key, ...accepted };
    }),
  );
  const byKey = Map.groupBy(answers, ({ key }) => key);
  assert.equal(byKey.size, keys);
  for (const [key, group] of byKey) {
    assert.equal(group.filter(({ isNew }) => isNew).length, 1, key);
    assert.equal(new Set(group.map(({ answer }) => answer)).size, 1, key);
  }
  const { rows } = await db.query<{ submissions: number; jobs: number }>(
    `select (select count(*) from submissions)::int as submissions, (select count(*) from graphile_worker.jobs)::int as jobs`,
  );
  assert.deepEqual(rows, [{ submissions: keys, jobs: keys }]);
});
