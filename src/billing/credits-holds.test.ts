import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { creditsTask } from "./credits-task.ts";
import { readCredits } from "./credits-read.ts";
import {
  adjust,
  grantPeriod,
  hold,
  keepHold,
  refund,
  releaseExpiredHolds,
  releaseHold,
} from "./credits.ts";

const { db } = await testDatabase();
const reference = { jobId: "j1" };

async function held(expiresSeconds = 60) {
  const userId = `user_${randomUUID()}`;
  await adjust(db, { userId, amount: 10, key: `gift:${userId}`, reference });
  const asked = { userId, amount: 4, key: `hold:${userId}`, reference, expiresSeconds };
  return { userId, asked, key: asked.key, made: await hold(db, asked) };
}

const balanceOf = async (userId: string): Promise<number> =>
  (await readCredits(db, userId, { limit: 1 })).balance;

test("a hold takes the credits at once; a repeat finds the same hold", async () => {
  const { userId, asked, made } = await held();
  assert.deepEqual([made.balance, made.isNew, made.state], [6, true, "open"]);
  assert.deepEqual(await hold(db, asked), { ...made, isNew: false });
  assert.equal(await balanceOf(userId), 6);
  await assert.rejects(hold(db, { ...asked, amount: 7, key: "second" }), {
    code: "insufficient_credits",
  });
});

test("a kept hold is spent: releasing it is refused, keeping it again changes nothing", async () => {
  const { userId, key, asked } = await held();
  assert.equal(await keepHold(db, key), true);
  assert.equal(await keepHold(db, key), true);
  await assert.rejects(releaseHold(db, key), /was kept/);
  assert.equal((await hold(db, asked)).state, "kept");
  assert.equal(await balanceOf(userId), 6);
});

test("a released hold is given back once, and can't be kept any more", async () => {
  const { userId, key, asked } = await held();
  await Promise.all(Array.from({ length: 5 }, async () => await releaseHold(db, key)));
  assert.equal(await keepHold(db, key), false);
  assert.equal((await hold(db, asked)).state, "released");
  const { balance, entries } = await readCredits(db, userId, { limit: 10 });
  assert.equal(balance, 10);
  assert.deepEqual(
    entries.map(({ kind, amount }) => [kind, amount]),
    [
      ["refund", 4],
      ["debit", -4],
      ["adjustment", 10],
    ],
  );
});

test("keep and release at once: one of them wins, and the balance tells which", async () => {
  for (let round = 0; round < 20; round++) {
    const { userId, key } = await held();
    const [kept, released] = await Promise.allSettled([keepHold(db, key), releaseHold(db, key)]);
    const isKept = kept.status === "fulfilled" && kept.value;
    assert.equal(released.status === "rejected", isKept);
    assert.equal(await balanceOf(userId), isKept ? 6 : 10);
  }
});

test("a hold that was refunded can't be kept, nor is it given back a second time", async () => {
  const { userId, key } = await held();
  await refund(db, { key });
  assert.equal(await keepHold(db, key), false);
  await releaseHold(db, key);
  assert.equal(await balanceOf(userId), 10);
});

test("an unknown hold can be neither kept nor released", async () => {
  await assert.rejects(keepHold(db, "nothing"), { code: "HC404" });
  await assert.rejects(releaseHold(db, "nothing"), { code: "HC404" });
});

test("what a dead worker held is given back once it expires; open and kept holds stay", async () => {
  const [lost, kept, open] = [await held(0), await held(0), await held(60)];
  await keepHold(db, kept.key);
  const counts = await Promise.all([releaseExpiredHolds(db), releaseExpiredHolds(db)]);
  assert.equal(counts[0] + counts[1], 1);
  assert.equal(await releaseExpiredHolds(db), 0);
  const balances = await Promise.all([lost, kept, open].map((each) => balanceOf(each.userId)));
  assert.deepEqual(balances, [10, 6, 6]);
});

test("the task gives lost holds back and ends periods that are over, unless credits roll over", async () => {
  const lost = await held(0);
  const userId = `user_${randomUUID()}`;
  const periodStart = new Date(Date.now() - 86_400_000);
  const period = { subscriptionId: `sub_${userId}`, periodStart, periodEnd: new Date() };
  await grantPeriod(db, { userId, ...period, credits: 100, rollsOver: false });
  const { signal } = new AbortController();
  const context = { jobId: "1", attempt: 1, isLastAttempt: false, log: quiet, signal };
  await creditsTask(db, { rollsOver: true }).run({}, context);
  assert.deepEqual([await balanceOf(lost.userId), await balanceOf(userId)], [10, 100]);
  await creditsTask(db, { rollsOver: false }).run({}, context);
  assert.equal(await balanceOf(userId), 0);
});
