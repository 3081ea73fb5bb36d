import assert from "node:assert/strict";
import { test } from "node:test";
import { day, lifeOf, newStory, subscriptionEvent } from "../helpers/payment-events.ts";
import type { Story, WireEvent } from "../helpers/payment-events.ts";
import {
  applying,
  commonOutcome,
  isFull,
  oneByOne,
  permutations,
  posting,
  randomly,
  repeated,
  sample,
  seed,
  shuffled,
} from "../helpers/payment-orders.ts";
import type { Telling } from "../helpers/payment-orders.ts";
import { paymentSandbox, paymentStage, periodStart } from "../helpers/payment-stage.ts";
import type { Outcome } from "../helpers/payment-stage.ts";

const stage = await paymentStage(await paymentSandbox());
const apply = applying(stage);
const outcome = async (tellings: Telling[]): Promise<Outcome> =>
  await commonOutcome(stage, tellings, apply);

const { started } = newStory();
const renewed = started + 7 * day;

/** What a life ends with: the trial's credits expired, those of the renewal are left, the user was told twice. */
function assertWholeLife({ subscription, balance, ledger, notices }: Outcome): void {
  assert.partialDeepStrictEqual(subscription, {
    status: "canceled",
    plan_id: "starter",
    subscription_id: "sub_NAME",
    customer_id: "cus_NAME",
    pending_plan: null,
  });
  assert.equal(periodStart(subscription), renewed);
  assert.equal(balance, 60);
  assert.deepEqual(ledger, [
    ["expiry", -60, `expiry:sub_NAME:${started}`],
    ["grant", 60, `grant:sub_NAME:${started}`],
    ["grant", 60, `grant:sub_NAME:${renewed}`],
  ]);
  assert.deepEqual(
    notices.map(([kind, key]) => [kind, key]),
    [
      ["payment_failed", "payment_failed:in_NAME_1:1"],
      ["trial_will_end", `trial_will_end:sub_NAME:${new Date(renewed * 1_000).toISOString()}`],
    ],
  );
}

const manyTimes = (count: number): Telling[] =>
  randomly(count, lifeOf).map(({ story, groups }) => ({ story, groups: repeated(groups.flat()) }));

test("every order of the seven events ends in the same state, with one grant per period", async (t) => {
  const all = permutations([0, 1, 2, 3, 4, 5, 6]);
  const orders = isFull ? all : shuffled(all).slice(0, 300);
  const tellings = orders.map((order) => {
    const story = newStory();
    const events = lifeOf(story);
    return { story, groups: oneByOne(order.flatMap((index) => events[index] ?? [])) };
  });
  assertWholeLife(await outcome(tellings));
  t.diagnostic(`seed ${seed}: ${tellings.length} orders`);
});

test("so does every order in which events come up to three times, some of them at once", async (t) => {
  const tellings = manyTimes(isFull ? 2_000 : 100);
  assertWholeLife(await outcome(tellings));
  const told = tellings.flatMap(({ groups }) => groups.flat()).length;
  t.diagnostic(`seed ${seed}: ${tellings.length} orders, ${told} deliveries`);
});

test("so does every order in which they come signed to the webhook, once or several times", async (t) => {
  const tellings = [...randomly(sample, lifeOf), ...manyTimes(sample / 2)];
  assertWholeLife(await commonOutcome(stage, tellings, posting(stage)));
  t.diagnostic(`seed ${seed}: ${tellings.length} orders`);
});

test("events in the shapes from before 2025 end in the same state", async () => {
  assertWholeLife(await outcome(randomly(sample, lifeOf, { shape: "old" })));
});

test("a user whom the checkout alone names is found in every order", async () => {
  assertWholeLife(await outcome(randomly(sample, lifeOf, { isNamed: false })));
});

test("a user whom only the customer leads to is found in every order", async () => {
  const withoutCheckout = (story: Story): WireEvent[] =>
    lifeOf(story).filter(({ type }) => !type.startsWith("checkout."));
  const tellings = randomly(sample, withoutCheckout, { isNamed: false });
  for (const { story } of tellings)
    await stage.db.query("insert into billing_customers (user_id, customer_id) values ($1, $2)", [
      story.userId,
      story.customer,
    ]);
  assertWholeLife(await outcome(tellings));
});

test("of events of one second the end comes last", async () => {
  const inOneSecond = (story: Story): WireEvent[] =>
    lifeOf(story).map((event) => ({ ...event, created: started }));
  assertWholeLife(await outcome(randomly(sample, inOneSecond)));
});

test("a subscription that ended stays so, even if a later event calls it active", async () => {
  const restless = (story: Story): WireEvent[] => [
    ...lifeOf(story),
    subscriptionEvent(story, "updated", { at: 20 * day + 1, status: "active", period: 1 }),
  ];
  assertWholeLife(await outcome(randomly(sample, restless)));
});
