import { readCredits } from "../../src/billing/credits-read.ts";
import {
  adjust,
  debit,
  grantPeriod,
  hold,
  keepHold,
  refund,
  releaseHold,
} from "../../src/billing/credits.ts";
import { insist } from "../../src/db/index.ts";
import type { Pool } from "../../src/db/index.ts";
import { AppError } from "../../src/errors.ts";
import { createRandom } from "./random.ts";

// A client of the ledger that does random things and remembers what it was told became of them. When an answer is lost
// it asks again with the same key; now and then it asks twice at once, on two connections.

export interface ClientOptions {
  /** Two connections of its own. */
  connections: [Pool, Pool];
  index: number;
  users: number;
  seed: number;
}

export interface Client {
  act(): Promise<void>;
  /** Every entry that must be in the ledger, by key. Expiries are not among them: they depend on what came before. */
  told: Map<string, number>;
  counts: { applied: number; refused: number; repeated: number };
  problems: string[];
}

const dayMs = 86_400_000;
const firstPeriodMs = Math.floor(Date.now() / dayMs) * dayMs - 30 * dayMs;
const periods = 60;

export function createClient({ connections, index, users, seed }: ClientOptions): Client {
  const random = createRandom(seed + index * 7_919);
  const upTo = (limit: number): number => 1 + Math.floor(random() * limit);
  const told = new Map<string, number>();
  const spent: string[] = [];
  const problems: string[] = [];
  const counts = { applied: 0, refused: 0, repeated: 0 };
  let number = 0;

  async function once<Answer>(work: (db: Pool) => Promise<Answer>, db: Pool): Promise<Answer> {
    let attempts = 0;
    return await insist(async () => {
      attempts += 1;
      if (attempts > 1) counts.repeated += 1;
      return await work(db);
    });
  }

  /** The answers to one question: both of a question asked twice. Undefined: too few credits. */
  async function ask<Answer>(work: (db: Pool) => Promise<Answer>): Promise<Answer[] | undefined> {
    const asked = random() < 0.1 ? connections : [connections[0]];
    const outcomes = await Promise.allSettled(asked.map(async (db) => await once(work, db)));
    const answers = outcomes.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    for (const each of outcomes) {
      if (each.status === "fulfilled") continue;
      if (!(each.reason instanceof AppError && each.reason.code === "insufficient_credits"))
        throw each.reason;
    }
    counts[answers.length > 0 ? "applied" : "refused"] += 1;
    return answers.length > 0 ? answers : undefined;
  }

  async function move(
    key: string,
    amount: number,
    work: (db: Pool) => Promise<{ entryId: string; isNew: boolean; balance: number }>,
  ): Promise<boolean> {
    const answers = await ask(work);
    if (!answers) return false;
    told.set(key, amount);
    if (new Set(answers.map((each) => `${each.entryId} ${each.balance}`)).size > 1)
      problems.push(`${key} has two entries`);
    if (answers.filter((each) => each.isNew).length > 1) problems.push(`${key} was new twice`);
    if (answers.some((each) => each.balance < 0)) problems.push(`${key} led below zero`);
    return true;
  }

  /** Fates race the expiry of the hold; whichever wins, the client is told which. */
  async function settle(key: string, amount: number, fate: number): Promise<void> {
    const isKept = fate < 0.45 && (await ask(async (db) => await keepHold(db, key)))?.[0];
    if (isKept) return;
    if (fate >= 0.45 && fate < 0.85) await ask(async (db) => await releaseHold(db, key));
    told.set(`refund:${key}`, amount);
  }

  const acts: [share: number, act: (userId: string, key: string) => Promise<void>][] = [
    [
      0.15,
      async (userId) => {
        const period = Math.floor(random() * periods);
        const periodStart = new Date(firstPeriodMs + period * dayMs);
        const periodEnd = new Date(periodStart.getTime() + dayMs);
        const grant = { subscriptionId: `sub_${userId}`, periodStart, periodEnd, rollsOver: false };
        const credits = 20 + period;
        await ask(async (db) => await grantPeriod(db, { userId, ...grant, credits }));
        told.set(`grant:sub_${userId}:${periodStart.getTime() / 1_000}`, credits);
      },
    ],
    [
      0.35,
      async (userId, key) => {
        const change = { userId, amount: upTo(5), key, reference: { index } };
        if (await move(key, -change.amount, async (db) => await debit(db, change))) spent.push(key);
      },
    ],
    [
      0.1,
      async () => {
        const key = spent[Math.floor(random() * spent.length)];
        if (key === undefined) return;
        await move(`refund:${key}`, -(told.get(key) ?? 0), async (db) => await refund(db, { key }));
      },
    ],
    [
      0.2,
      async (userId, key) => {
        const fate = random();
        const expiresSeconds = fate >= 0.85 || random() < 0.2 ? 0 : 60;
        const change = { userId, amount: upTo(5), key, reference: { index }, expiresSeconds };
        const isHeld = await move(key, -change.amount, async (db) => await hold(db, change));
        if (isHeld) await settle(key, change.amount, fate);
      },
    ],
    [
      0.1,
      async (userId, key) => {
        const amount = upTo(10) * (random() < 0.5 ? 1 : -1);
        const change = { userId, amount, key, reference: { index } };
        await move(key, amount, async (db) => await adjust(db, change));
      },
    ],
    [
      0.1,
      async (userId) => {
        const read = await once(
          async (db) => await readCredits(db, userId, { limit: 5 }),
          connections[0],
        );
        if (read.balance < 0) problems.push(`${userId} was seen below zero`);
        const sums = [read.balance, ...read.entries.map((each) => each.balanceAfter - each.amount)];
        for (const [place, entry] of read.entries.entries())
          if (entry.balanceAfter !== sums[place])
            problems.push(`${userId} was seen with ${sums[place]} after entry ${entry.id}`);
      },
    ],
  ];

  return {
    told,
    counts,
    problems,
    async act() {
      const userId = `user_${upTo(users)}`;
      const key = `chaos:${index}:${++number}`;
      let draw = random();
      const chosen = acts.find(([share]) => (draw -= share) < 0) ?? acts[1];
      await chosen?.[1](userId, key);
    },
  };
}
