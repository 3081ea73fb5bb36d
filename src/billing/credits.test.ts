import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { testDatabase } from "../../test/helpers/database.ts";
import { inTransaction } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { checkCredits } from "./credits-check.ts";
import { readCredits } from "./credits-read.ts";
import { adjust, debit, grantPeriod, refund } from "./credits.ts";

const { db, owner } = await testDatabase();
const reference = { mediaId: "m1" };

async function userWith(credits: number): Promise<string> {
  const userId = `user_${randomUUID()}`;
  await adjust(db, { userId, amount: credits, key: `gift:${userId}`, reference });
  return userId;
}

const entriesOf = async (userId: string) =>
  (await readCredits(db, userId, { limit: 100 })).entries
    .map(({ kind, amount, balanceAfter }) => [kind, amount, balanceAfter])
    .toReversed();

test("a debit takes credits once, however often its key is sent", async () => {
  const userId = await userWith(10);
  const change = { userId, amount: 4, key: `debit:${userId}`, reference };
  const first = await debit(db, change);
  assert.deepEqual([first.balance, first.isNew], [6, true]);
  await debit(db, { ...change, amount: 1, key: `other:${userId}` });
  assert.deepEqual(await debit(db, change), { ...first, isNew: false });
  assert.deepEqual(await entriesOf(userId), [
    ["adjustment", 10, 10],
    ["debit", -4, 6],
    ["debit", -1, 5],
  ]);
});

test("the same key sent 20 times at once takes credits once", async () => {
  const userId = await userWith(50);
  const change = { userId, amount: 2, key: `debit:${userId}`, reference };
  const moves = await Promise.all(Array.from({ length: 20 }, async () => await debit(db, change)));
  assert.equal(moves.filter((move) => move.isNew).length, 1);
  assert.equal(new Set(moves.map((move) => move.entryId)).size, 1);
  assert.equal((await readCredits(db, userId, { limit: 1 })).balance, 48);
});

test("a key of another user, another amount or another kind is refused", async () => {
  const [userId, stranger] = [await userWith(10), await userWith(10)];
  const change = { userId, amount: 4, key: `debit:${userId}`, reference };
  await debit(db, change);
  const used = { code: "HC409" };
  await assert.rejects(debit(db, { ...change, amount: 5 }), used);
  await assert.rejects(debit(db, { ...change, userId: stranger }), used);
  await assert.rejects(adjust(db, { ...change, amount: -4 }), used);
  assert.equal((await readCredits(db, stranger, { limit: 1 })).balance, 10);
});

test("a debit of more than there is gets 402 insufficient_credits and leaves no entry", async () => {
  const userId = await userWith(3);
  const refused = debit(db, { userId, amount: 4, key: `debit:${userId}`, reference });
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.code, error.status], ["insufficient_credits", 402]);
    assert.deepEqual(error.details, { needed: 4, balance: 3 });
    return true;
  });
  assert.deepEqual(await entriesOf(userId), [["adjustment", 3, 3]]);
  await assert.rejects(debit(db, { userId: "nobody", amount: 1, key: "nobody", reference }), {
    code: "insufficient_credits",
  });
});

test("amounts that are no debit are refused: 0, negative, a fraction, too large", async () => {
  const userId = await userWith(3);
  for (const amount of [0, -1, 0.5, 1e308])
    await assert.rejects(debit(db, { userId, amount, key: `debit:${amount}`, reference }));
  assert.equal((await readCredits(db, userId, { limit: 1 })).balance, 3);
});

test("a refund gives a debit back once, and only a debit", async () => {
  const userId = await userWith(10);
  const key = `debit:${userId}`;
  await debit(db, { userId, amount: 4, key, reference });
  const moves = await Promise.all(Array.from({ length: 8 }, async () => await refund(db, { key })));
  assert.equal(moves.filter((move) => move.isNew).length, 1);
  assert.deepEqual((await entriesOf(userId)).slice(1), [
    ["debit", -4, 6],
    ["refund", 4, 10],
  ]);
  await assert.rejects(refund(db, { key: `gift:${userId}` }), { code: "HC404" });
  await assert.rejects(refund(db, { key: "unknown" }), { code: "HC404" });
});

test("what a rolled back transaction moved never happened", async () => {
  const userId = await userWith(10);
  const change = { userId, amount: 4, key: `debit:${userId}`, reference };
  const failed = inTransaction(db, async (tx) => {
    await debit(tx, change);
    throw new Error("the rest failed");
  });
  await assert.rejects(failed, /the rest failed/);
  assert.equal((await debit(db, change)).isNew, true);
});

test("the debit that goes below a tenth of the allowance says so, alone", async () => {
  const userId = `user_${randomUUID()}`;
  const day = 86_400_000;
  const period = { periodStart: new Date(), periodEnd: new Date(Date.now() + 30 * day) };
  const subscriptionId = `sub_${userId}`;
  await grantPeriod(db, { userId, subscriptionId, ...period, credits: 100, rollsOver: false });
  const low: boolean[] = [];
  for (const [index, amount] of [90, 1, 1].entries())
    low.push((await debit(db, { userId, amount, key: `${userId}:${index}`, reference })).isLow);
  assert.deepEqual(low, [false, true, false]);
  assert.equal(
    (await debit(db, { userId, amount: 1, key: `${userId}:1`, reference })).isLow,
    false,
  );
});

test("credits are read newest first, page by page, without gaps or repeats", async () => {
  const userId = await userWith(100);
  for (let index = 0; index < 6; index++)
    await debit(db, { userId, amount: 1, key: `${userId}:${index}`, reference: { index } });
  const pages: unknown[][] = [];
  let cursor: string | undefined;
  do {
    const page = await readCredits(db, userId, { limit: 3, cursor });
    assert.equal(page.balance, 94);
    pages.push(page.entries.map((entry) => entry.balanceAfter));
    cursor = page.next ?? undefined;
  } while (cursor);
  assert.deepEqual(pages, [[94, 95, 96], [97, 98, 99], [100]]);
  assert.deepEqual(await readCredits(db, "nobody at all", { limit: 3 }), {
    balance: 0,
    periodEnd: null,
    entries: [],
    next: null,
  });
});

test("the check finds nothing in what the service wrote, and each difference somebody made by hand", async () => {
  const told: unknown[] = [];
  const clean = await checkCredits(db, (difference) => told.push(difference));
  assert.deepEqual([clean.differences, told], [0, []]);
  assert.ok(clean.users > 5 && clean.entries > 10);

  const [userId, other] = [await userWith(10), await userWith(5)];
  await owner.query("update credit_balances set balance = balance + 1 where user_id = $1", [
    userId,
  ]);
  const { rows } = await owner.query<{ id: string }>(
    `insert into credit_entries (user_id, kind, amount, balance_after, idempotency_key)
     values ($1, 'adjustment', 2, 9, 'forged') returning id`,
    [other],
  );
  assert.equal((await checkCredits(db, (difference) => told.push(difference))).differences, 3);
  const byUser = (id: string) => told.filter((each) => (each as { userId: string }).userId === id);
  assert.deepEqual(byUser(userId), [{ userId, entryId: null, expected: 10, found: 11 }]);
  assert.deepEqual(byUser(other), [
    { userId: other, entryId: rows[0]?.id, expected: 7, found: 9 },
    { userId: other, entryId: null, expected: 7, found: 5 },
  ]);
});
