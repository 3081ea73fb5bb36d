import assert from "node:assert/strict";
import { test } from "node:test";
import { chaosCredits, spendLastCredit } from "../chaos/credits.ts";
import { testDatabase } from "../helpers/database.ts";

// A hundredth of the full form, which is `npm run chaos -- credits`.

const { db } = await testDatabase();

test("1,000 random operations, 16 clients, 2 kills of the database: every balance is its ledger's sum, nothing is done twice", async (t) => {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1_000_000));
  const options = { users: 20, operations: 1_000, clients: 16, restarts: 2, seed };
  const { problems, ...figures } = await chaosCredits(options);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(problems, [], `seed ${seed}`);
  assert.ok(figures.applied > 500 && figures.refused > 0);
});

test("of 100 debits at once for the last credit exactly one is done, and 99 get 402", async () => {
  const { right, problems } = await spendLastCredit(db, { rounds: 20, debits: 100 });
  assert.deepEqual([right, problems], [20, []]);
});
