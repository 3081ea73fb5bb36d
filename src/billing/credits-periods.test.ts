import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { testDatabase } from "../../test/helpers/database.ts";
import { readCredits } from "./credits-read.ts";
import { adjust, debit, expireEnded, grantPeriod, refund } from "./credits.ts";

const { db } = await testDatabase();
const dayMs = 86_400_000;
const startMs = Date.UTC(2040, 0, 1);
const reference = {};

interface Period {
  number: number;
  subscription?: string;
  credits?: number;
  rollsOver?: boolean;
}

/** Periods of a month, counted from 2040 on; negative ones are long over. */
async function grant(userId: string, period: Period): Promise<boolean> {
  const { number, subscription = "a", credits = 100, rollsOver = false } = period;
  const base = number < 0 ? Date.UTC(2020, 0, 1) : startMs;
  const periodStart = new Date(base + number * 30 * dayMs);
  const periodEnd = new Date(periodStart.getTime() + 30 * dayMs);
  const subscriptionId = `sub_${userId}_${subscription}`;
  return await grantPeriod(db, {
    userId,
    subscriptionId,
    periodStart,
    periodEnd,
    credits,
    rollsOver,
  });
}

const newUser = (): string => `user_${randomUUID()}`;
const balanceOf = async (userId: string): Promise<number> =>
  (await readCredits(db, userId, { limit: 1 })).balance;

/** The entries without what the order of arrival may change: id, time, running balance. */
async function entrySet(userId: string): Promise<string[]> {
  const { rows } = await db.query<{ entry: string }>(
    `select format('%s %s %s', kind, amount, replace(idempotency_key, user_id, '')) as entry
     from credit_entries where user_id = $1 order by entry`,
    [userId],
  );
  return rows.map((row) => row.entry);
}

function ordersOf<Item>(items: Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

async function endsTheSame(periods: Period[], balance: number, entries: number): Promise<void> {
  const outcomes = new Set<string>();
  for (const order of ordersOf(periods)) {
    const userId = newUser();
    // Each event is delivered twice: the second changes nothing.
    for (const period of order) assert.equal(await grant(userId, period), true);
    for (const period of order) assert.equal(await grant(userId, period), false);
    outcomes.add(JSON.stringify([await entrySet(userId), await balanceOf(userId)]));
  }
  assert.equal(outcomes.size, 1);
  const [set, last] = JSON.parse([...outcomes][0] ?? "") as [string[], number];
  assert.deepEqual([set.length, last], [entries, balance]);
}

const five = [0, 1, 2, 3, 4].map((number) => ({ number, credits: 100 + number }));

test("all 120 orders of five periods end in the same nine entries and the last allowance", async () => {
  await endsTheSame(five, 104, 9);
});

test("all 120 orders of five periods that roll over end in the same five entries and their sum", async () => {
  const periods = five.map((period) => ({ ...period, rollsOver: true }));
  await endsTheSame(periods, 510, 5);
});

test("all orders of two subscriptions' periods, starting at the same moments, end in the same entries", async () => {
  const periods = [0, 1].flatMap((number) =>
    ["a", "b"].map((subscription) => ({ number, subscription, credits: 10 })),
  );
  await endsTheSame(periods, 10, 7);
});

test("the events of one period that come at once grant it once", async () => {
  const userId = newUser();
  const granted = await Promise.all(
    Array.from({ length: 20 }, async () => await grant(userId, { number: 0 })),
  );
  assert.equal(granted.filter(Boolean).length, 1);
  assert.equal(await balanceOf(userId), 100);
});

test("a renewal ends what is left and grants the allowance, as two entries", async () => {
  const userId = newUser();
  await grant(userId, { number: 0 });
  await debit(db, { userId, amount: 30, key: `${userId}:debit`, reference });
  await grant(userId, { number: 1, credits: 50 });
  const { balance, entries, periodEnd } = await readCredits(db, userId, { limit: 2 });
  assert.deepEqual(
    [balance, periodEnd, entries.map(({ kind, amount }) => [kind, amount])],
    [
      50,
      new Date(startMs + 60 * dayMs),
      [
        ["grant", 50],
        ["expiry", -70],
      ],
    ],
  );
});

test("another number of credits for a period that was granted changes nothing", async () => {
  const userId = newUser();
  await grant(userId, { number: 0 });
  assert.equal(await grant(userId, { number: 0, credits: 500 }), false);
  assert.equal(await balanceOf(userId), 100);
});

test("a plan without credits ends the period before, once, and grants nothing", async () => {
  const userId = newUser();
  await grant(userId, { number: 0 });
  assert.equal(await grant(userId, { number: 1, credits: 0 }), true);
  assert.equal(await grant(userId, { number: 1, credits: 0 }), false);
  assert.equal(await balanceOf(userId), 0);
  await assert.rejects(grant(userId, { number: 2, credits: -5 }));
});

test("a period that nobody renewed ends by itself, once, and a renewal after that is the same as before", async () => {
  const userId = newUser();
  await grant(userId, { number: -2 });
  await debit(db, { userId, amount: 30, key: `${userId}:debit`, reference });
  const ended = await Promise.all([expireEnded(db), expireEnded(db)]);
  assert.equal(ended[0] + ended[1], 1);
  assert.equal(await expireEnded(db), 0);
  assert.deepEqual(
    await readCredits(db, userId, { limit: 1 }).then((credits) => credits.periodEnd),
    null,
  );
  await grant(userId, { number: 0 });
  assert.deepEqual(
    (await entrySet(userId)).map((entry) => entry.split(" ").slice(0, 2).join(" ")),
    ["debit -30", "expiry -70", "grant 100", "grant 100"],
  );
  assert.equal(await balanceOf(userId), 100);
});

test("what is given back after its period has ended lasts until the next one begins", async () => {
  const userId = newUser();
  await grant(userId, { number: -2 });
  await debit(db, { userId, amount: 30, key: `${userId}:debit`, reference });
  await expireEnded(db);
  await refund(db, { key: `${userId}:debit` });
  await expireEnded(db);
  assert.equal(await balanceOf(userId), 30);
  await grant(userId, { number: 0 });
  assert.equal(await balanceOf(userId), 100);
});

test("credits given before the first period join it", async () => {
  const userId = newUser();
  await adjust(db, { userId, amount: 5, key: `${userId}:gift`, reference });
  await grant(userId, { number: 0 });
  assert.equal(await balanceOf(userId), 105);
  await grant(userId, { number: 1 });
  assert.equal(await balanceOf(userId), 100);
});

test("a grant that races debits loses neither", async () => {
  const userId = newUser();
  await adjust(db, { userId, amount: 20, key: `${userId}:gift`, reference });
  await Promise.all([
    ...Array.from(
      { length: 20 },
      async (_, index) =>
        await debit(db, { userId, amount: 1, key: `${userId}:${index}`, reference }),
    ),
    grant(userId, { number: 0 }),
  ]);
  assert.equal(await balanceOf(userId), 100);
});
