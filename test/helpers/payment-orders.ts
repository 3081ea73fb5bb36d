import assert from "node:assert/strict";
import { applyEvent } from "../../src/billing/apply-event.ts";
import { subscriptionOf } from "../../src/billing/history.ts";
import { createRandom } from "../chaos/random.ts";
import { newStory } from "./payment-events.ts";
import type { Story, WireEvent } from "./payment-events.ts";
import { outcomeOf } from "./payment-stage.ts";
import type { Outcome, PaymentStage } from "./payment-stage.ts";

// The same events in many orders. Each telling is of another user and subscription, so that none waits for another and
// nothing needs to be cleared between them.

/** HERALD_FULL=1 is the full form: all 5,040 orders of the seven events, and 2,000 with repetitions. */
export const isFull = Boolean(process.env["HERALD_FULL"]);
/** As many as are drawn of the orders of everything else. */
export const sample = isFull ? 200 : 50;

export const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1_000_000));
const random = createRandom(seed);
const lanes = 8;

export interface Telling {
  story: Story;
  /** One group after the other, the events of a group at once. */
  groups: WireEvent[][];
}
export type Tell = (event: WireEvent) => Promise<void>;

export function shuffled<Item>(items: readonly Item[]): Item[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
}

export function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

export const oneByOne = (events: readonly WireEvent[]): WireEvent[][] =>
  events.map((event) => [event]);

/** Each event up to three times, up to eight events at once. */
export function repeated(events: readonly WireEvent[]): WireEvent[][] {
  const upTo = (most: number): number => 1 + Math.floor(random() * most);
  const rest = shuffled(events.flatMap((event) => Array.from({ length: upTo(3) }, () => event)));
  const groups: WireEvent[][] = [];
  while (rest.length > 0) groups.push(rest.splice(0, upTo(8)));
  return groups;
}

/** Random orders of what `events` makes of a new story. */
export function randomly(
  count: number,
  events: (story: Story) => WireEvent[],
  given: Partial<Story> = {},
): Telling[] {
  return Array.from({ length: count }, () => {
    const story = newStory(given);
    return { story, groups: oneByOne(shuffled(events(story))) };
  });
}

/** Without the route, for the sake of speed. */
export function applying({ deps }: PaymentStage): Tell {
  const billing = { ...deps, ...deps.billing };
  return async ({ id, type, created, data }) => {
    await applyEvent(billing, {
      id,
      type,
      createdAt: new Date(created * 1_000),
      subscriptionId: subscriptionOf(type, data.object),
      payload: data.object,
      previous: data.previous_attributes ?? null,
    });
  };
}

export function posting(stage: PaymentStage): Tell {
  return async (event) => assert.equal(await stage.tell(event), 200);
}

/** Tells all of them, and answers with the outcome that they have in common. */
export async function commonOutcome(
  { db }: PaymentStage,
  tellings: readonly Telling[],
  tell: Tell,
): Promise<Outcome> {
  const orders = new Map<string, string>();
  const rest = [...tellings];
  const lane = async (): Promise<void> => {
    for (let telling = rest.pop(); telling; telling = rest.pop()) {
      const { story, groups } = telling;
      for (const group of groups) await Promise.all(group.map(tell));
      const order = groups.map((group) => group.map(({ type }) => type).join(" + ")).join(", ");
      orders.set(JSON.stringify(await outcomeOf(db, story)), order);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const [[first = "null", firstOrder] = [], ...others] = orders;
  for (const [other, order] of others)
    assert.deepEqual(
      JSON.parse(other),
      JSON.parse(first),
      `seed ${seed}: ${order}\nends otherwise than ${firstOrder}`,
    );
  return JSON.parse(first) as Outcome;
}
