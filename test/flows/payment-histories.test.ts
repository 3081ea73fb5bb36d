import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkoutEvent,
  day,
  invoiceEvent,
  lifeOf,
  newStory,
  subscriptionEvent,
} from "../helpers/payment-events.ts";
import type { Story, WireEvent } from "../helpers/payment-events.ts";
import {
  applying,
  commonOutcome,
  oneByOne,
  randomly,
  repeated,
  sample,
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
const grantsOf = ({ ledger }: Outcome): [number, string][] =>
  ledger.flatMap(([kind, amount, key]) => (kind === "grant" ? [[amount, key]] : []));
const bothPeriods = [
  [60, `grant:sub_NAME:${started}`],
  [60, `grant:sub_NAME:${renewed}`],
];

/** All but the end. */
const running = (story: Story): WireEvent[] => lifeOf(story).slice(0, 6);

test("a subscription that goes on is active with the newest period, whichever event comes last", async () => {
  const found = await outcome(randomly(sample, running));
  assert.equal(found.subscription?.["status"], "active");
  assert.equal(periodStart(found.subscription), renewed);
  assert.deepEqual(grantsOf(found), bothPeriods);
});

test("of events of one second the update counts more than the beginning, and the success more than the failure", async () => {
  const inOneSecond = (story: Story): WireEvent[] =>
    running(story)
      .filter(({ type }) => !type.endsWith("trial_will_end"))
      .map((event) => ({ ...event, created: started }));
  const { subscription } = await outcome(randomly(sample, inOneSecond));
  assert.equal(subscription?.["status"], "active");
  assert.equal(periodStart(subscription), renewed);
});

test("updates of one second stand in the order that their previous attributes tell", async () => {
  const updates = (story: Story): WireEvent[] => [
    subscriptionEvent(story, "created", { at: 0, status: "incomplete", period: 0 }),
    ...["active", "past_due", "unpaid", "active", "paused"].map((status, index, statuses) => {
      const was = statuses[index - 1] ?? "incomplete";
      const previous = { status: was, latest_invoice: `in_${index}` };
      const event = subscriptionEvent(story, "updated", { at: 5, status, period: 0, previous });
      event.data.object["latest_invoice"] = `in_${index + 1}`;
      return event;
    }),
  ];
  const { subscription } = await outcome(randomly(sample, updates));
  assert.equal(subscription?.["status"], "unpaid");
});

test("a payment that failed after one that succeeded leaves past_due, in every order", async () => {
  const failing = (story: Story): WireEvent[] => [
    ...running(story),
    subscriptionEvent(story, "updated", { at: 37 * day, status: "active", period: 2 }),
    invoiceEvent(story, "payment_failed", { at: 37 * day + 3_600, period: 2 }),
  ];
  const found = await outcome(randomly(sample, failing));
  assert.equal(found.subscription?.["status"], "past_due");
  assert.deepEqual(grantsOf(found), bothPeriods);
  assert.equal(found.notices.length, 3);
});

test("checkout, beginning and the invoice over nothing name one period: it is granted once", async () => {
  const beginning = (story: Story): WireEvent[] => [
    checkoutEvent(story, 0),
    subscriptionEvent(story, "created", { at: 0, status: "trialing", period: 0 }),
    invoiceEvent(story, "payment_succeeded", { at: 1, period: 0 }),
  ];
  for (const shape of ["recent", "old"] as const) {
    const inTurn = randomly(sample, beginning, { shape });
    const atOnce = randomly(sample, beginning, { shape }).map(({ story, groups }) => ({
      story,
      groups: [groups.flat()],
    }));
    const found = await outcome([...inTurn, ...atOnce]);
    assert.deepEqual([found.balance, grantsOf(found)], [60, [[60, `grant:sub_NAME:${started}`]]]);
    assert.equal(found.subscription?.["status"], "trialing");
  }
});

test("a subscription whose first payment is open is granted nothing before it is paid", async () => {
  const unpaid = (story: Story): WireEvent[] => [
    checkoutEvent(story, 0),
    subscriptionEvent(story, "created", { at: 0, status: "incomplete", period: 0 }),
    invoiceEvent(story, "payment_failed", { at: 1, period: 0 }),
  ];
  const found = await outcome(randomly(sample, unpaid));
  assert.deepEqual([found.balance, found.subscription?.["status"]], [null, "unpaid"]);
  const paid = (story: Story): WireEvent[] => [
    ...unpaid(story),
    invoiceEvent(story, "payment_succeeded", { at: 60, period: 0 }),
  ];
  assert.equal((await outcome(randomly(sample, paid))).balance, 60);
});

test("a change of plan is paid by an invoice that grants nothing", async () => {
  const pro = { at: 9 * day, price: "price_pro" };
  const changed = (story: Story): WireEvent[] => [
    ...running(story),
    subscriptionEvent(story, "updated", { ...pro, status: "active", period: 1 }),
    invoiceEvent(story, "payment_succeeded", { ...pro, period: 2, reason: "subscription_update" }),
  ];
  const found = await outcome(randomly(sample, changed));
  assert.deepEqual(grantsOf(found), bothPeriods);
  assert.partialDeepStrictEqual(found.subscription, {
    plan_id: "pro",
    pending_plan: { planId: "pro", creditsPerPeriod: 300 },
  });
});

test("a plan that was changed during the trial gets the trial's credits of the first plan, in every order", async () => {
  const pro = { at: 2 * day, status: "trialing", price: "price_pro", period: 0 };
  const changed = (story: Story): WireEvent[] => [
    subscriptionEvent(story, "created", { at: 0, status: "trialing", period: 0 }),
    checkoutEvent(story, 2),
    subscriptionEvent(story, "updated", pro),
    subscriptionEvent(story, "trial_will_end", { ...pro, at: 4 * day }),
  ];
  const found = await outcome(randomly(sample, changed));
  assert.deepEqual(grantsOf(found), [[60, `grant:sub_NAME:${started}`]]);
  assert.partialDeepStrictEqual(found.subscription, { plan_id: "pro", status: "trialing" });
});

test("a renewal whose invoice also settles a change of plan grants the new period, for the new plan", async () => {
  const changed = (story: Story): WireEvent[] => [
    ...running(story),
    subscriptionEvent(story, "updated", {
      at: 9 * day,
      status: "active",
      period: 1,
      price: "price_pro",
    }),
    invoiceEvent(story, "payment_succeeded", {
      at: 37 * day,
      period: 2,
      price: "price_pro",
      prorated: "price_starter",
    }),
  ];
  for (const shape of ["recent", "old"] as const) {
    const found = await outcome(randomly(sample, changed, { shape }));
    const third = [300, `grant:sub_NAME:${renewed + 30 * day}`];
    assert.deepEqual([found.balance, grantsOf(found)], [300, [...bothPeriods, third]]);
  }
});

/** Events of two subscriptions: in turn, several times, or in turn but for the last of each, which come at once. */
function mingled(first: WireEvent[], second: WireEvent[], form: number): WireEvent[][] {
  if (form === 0) return oneByOne(shuffled([...first, ...second]));
  if (form === 1) return repeated([...first, ...second]);
  const [ofFirst, ofSecond] = [shuffled(first), shuffled(second)];
  const last = [...ofFirst.splice(0, 1), ...ofSecond.splice(0, 1)];
  return [...oneByOne(shuffled([...ofFirst, ...ofSecond])), last];
}

/** A user's first subscription and a second one, of which one or none ends. */
function twoSubscriptions(ends: "first" | "second" | "none"): Telling[] {
  return Array.from({ length: 2 * sample }, (_, index) => {
    const story = newStory();
    const { userId, customer, name } = story;
    const second = newStory({
      name: `${name}_b`,
      userId,
      customer,
      started: started + 21 * day,
      price: "price_pro",
    });
    const end = { at: day, status: "canceled", period: 0 };
    const secondEvents = [
      checkoutEvent(second, 1),
      subscriptionEvent(second, "created", { at: 0, status: "active", period: 0 }),
      invoiceEvent(second, "payment_succeeded", { at: 1, period: 0 }),
      ...(ends === "second" ? [subscriptionEvent(second, "deleted", end)] : []),
    ];
    const firstEvents = ends === "first" ? lifeOf(story) : running(story);
    return { story, groups: mingled(firstEvents, secondEvents, index % 3) };
  });
}

test("of a subscription that was canceled and a new one the new one counts, in every order", async () => {
  const found = await outcome(twoSubscriptions("first"));
  assert.partialDeepStrictEqual(found.subscription, {
    status: "active",
    subscription_id: "sub_NAME_b",
    plan_id: "pro",
  });
  assert.equal(found.balance, 300);
  assert.equal(grantsOf(found).length, 3);
});

test("of two subscriptions the one that runs counts, also where the younger one was canceled", async () => {
  const { subscription } = await outcome(twoSubscriptions("second"));
  assert.partialDeepStrictEqual(subscription, { status: "active", subscription_id: "sub_NAME" });
});

test("of two subscriptions that both run the younger one counts, in every order", async () => {
  const { subscription } = await outcome(twoSubscriptions("none"));
  assert.partialDeepStrictEqual(subscription, { status: "active", subscription_id: "sub_NAME_b" });
});
