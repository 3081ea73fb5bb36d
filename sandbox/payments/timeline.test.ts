import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../testing.ts";
import {
  advance,
  cards,
  day,
  decide,
  eventsOf,
  get,
  ok,
  post,
  refused,
  set,
  start,
  subscribe,
  subscriptionOf,
  typesOf,
  withTrial,
} from "./payments.testing.ts";
import type { Invoice, List, Subscription } from "./shapes.ts";
import { nextPeriodEnd } from "./subscriptions.ts";

const hour = 60 * 60;
const warning = "customer.subscription.trial_will_end";
const periodOf = ({ items }: Subscription): (number | undefined)[] => [
  items.data[0]?.current_period_start,
  items.data[0]?.current_period_end,
];

describe("a trial", () => {
  test("is announced three days before its end, once, without anybody calling", async (t) => {
    const sandbox = await start(t);
    await subscribe(sandbox, withTrial);
    await advance(sandbox, 11 * day - 60);
    assert.ok(!(await typesOf(sandbox)).includes(warning));
    await advance(sandbox, 60);
    const notes = () => sandbox.journal.find({ operation: "payments.clock" }).entries;
    await until("time has passed", () => notes().length > 0);
    await advance(sandbox, day);
    const types = await typesOf(sandbox);
    assert.equal(types.filter((type) => type === warning).length, 1);
  });

  test("that is short is announced at once", async (t) => {
    const sandbox = await start(t);
    await subscribe(sandbox, { "subscription_data[trial_period_days]": "2" });
    assert.equal((await typesOf(sandbox)).at(-1), warning);
  });

  test("ends in a paid period, whose invoice is charged an hour later", async (t) => {
    const sandbox = await start(t);
    const { id, trial_end: trialEnd } = await subscribe(sandbox, withTrial);
    await advance(sandbox, 14 * day);
    const active = await subscriptionOf(sandbox, id);
    const end = nextPeriodEnd(trialEnd ?? 0, trialEnd ?? 0);
    assert.deepEqual([active.status, ...periodOf(active)], ["active", trialEnd, end]);
    const path = `/invoices/${active.latest_invoice}`;
    assert.equal((await ok<Invoice>(get(sandbox, path))).status, "draft");
    await advance(sandbox, hour);
    const paid = await ok<Invoice>(get(sandbox, path));
    assert.deepEqual(
      [paid.status, paid.amount_paid, paid.billing_reason, paid.lines.data[0]?.period],
      ["paid", 1900, "subscription_cycle", { start: trialEnd, end }],
    );
    const [update] = (await eventsOf(sandbox)).filter(
      ({ type }) => type === "customer.subscription.updated",
    );
    assert.equal(update?.created, trialEnd);
    assert.equal(update.data.previous_attributes?.["status"], "trialing");
  });

  for (const [then, status] of [
    ["cancel", "canceled"],
    ["pause", "paused"],
    ["create_invoice", "past_due"],
  ] as const) {
    test(`without a card ends as ${status} when it shall ${then}`, async (t) => {
      const sandbox = await start(t);
      const behavior = "subscription_data[trial_settings][end_behavior][missing_payment_method]";
      const form = { payment_method_collection: "if_required", [behavior]: then, card: "" };
      const { id } = await subscribe(sandbox, { ...withTrial, ...form });
      await advance(sandbox, 14 * day + hour);
      assert.equal((await subscriptionOf(sandbox, id)).status, status);
    });
  }
});

describe("renewals", () => {
  test("of a whole year happen in order when the clock jumps, each paid once", async (t) => {
    const sandbox = await start(t);
    const { id } = await subscribe(sandbox);
    await advance(sandbox, 370 * day);
    const path = `/invoices?subscription=${id}&limit=100`;
    const { data } = await ok<List<Invoice>>(get(sandbox, path));
    const periods = data.toReversed().map(({ lines }) => lines.data[0]?.period);
    assert.equal(data.length, 13);
    for (const [index, period] of periods.slice(1).entries()) {
      assert.equal(period?.start, periods[index]?.end);
    }
    assert.ok(data.every(({ status, amount_paid }) => status === "paid" && amount_paid === 1900));
    const times = (await eventsOf(sandbox)).map(({ created }) => created);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  });

  test("of two customers come in the order of time, not one after the other", async (t) => {
    const sandbox = await start(t);
    const monthly = await subscribe(sandbox);
    const later = await subscribe(sandbox, withTrial);
    await advance(sandbox, 70 * day);
    const paid = (await eventsOf(sandbox)).filter(({ type }) => type === "invoice.created");
    assert.deepEqual(
      paid.map(({ data }) => (data.object as Invoice).customer),
      [monthly, later, later, monthly, later, monthly].map(({ customer }) => customer),
    );
  });

  test("keep the day of the month where it exists", () => {
    const at = (date: string): number => Date.parse(`${date}T10:00:00Z`) / 1000;
    const anchor = at("2027-01-31");
    assert.equal(nextPeriodEnd(anchor, anchor), at("2027-02-28"));
    assert.equal(nextPeriodEnd(at("2027-02-28"), anchor), at("2027-03-31"));
    assert.equal(nextPeriodEnd(at("2027-12-31"), anchor), at("2028-01-31"));
  });

  test("that fail are tried three times more, then the subscription ends", async (t) => {
    const sandbox = await start(t);
    const { id } = await subscribe(sandbox, { ...withTrial, card: cards.failsLater });
    await advance(sandbox, 14 * day + hour);
    const { status, latest_invoice: invoice } = await subscriptionOf(sandbox, id);
    const path = `/invoices/${invoice}`;
    const tried = await ok<Invoice>(get(sandbox, path));
    assert.deepEqual([status, tried.status, tried.attempt_count], ["past_due", "open", 1]);
    assert.ok((tried.next_payment_attempt ?? 0) > tried.created);
    await advance(sandbox, 15 * day);
    const last = await ok<Invoice>(get(sandbox, path));
    assert.deepEqual([last.attempt_count, last.next_payment_attempt], [4, null]);
    const ended = await subscriptionOf(sandbox, id);
    assert.deepEqual(
      [ended.status, ended.cancellation_details.reason],
      ["canceled", "payment_failed"],
    );
    const types = await typesOf(sandbox);
    assert.equal(types.filter((type) => type === "invoice.payment_failed").length, 4);
    assert.equal(types.at(-1), "customer.subscription.deleted");
  });

  test("that fail for good leave it unpaid when the settings say so", async (t) => {
    const sandbox = await start(t);
    await set(sandbox, { afterRetries: "unpaid", finalizeAfterSeconds: 0 });
    const { id } = await subscribe(sandbox, { ...withTrial, card: cards.failsLater });
    await advance(sandbox, 29 * day);
    assert.equal((await subscriptionOf(sandbox, id)).status, "unpaid");
  });

  test("that fail are made good at the invoice's page", async (t) => {
    const sandbox = await start(t);
    const { id } = await subscribe(sandbox, { ...withTrial, card: cards.failsLater });
    await advance(sandbox, 14 * day + hour);
    const { latest_invoice: invoice } = await subscriptionOf(sandbox, id);
    const { hosted_invoice_url: page } = await ok<Invoice>(get(sandbox, `/invoices/${invoice}`));
    await refused(post(sandbox, `/invoices/${invoice}/pay`), 402);
    assert.equal((await decide(page, { decision: "pay", card: cards.pays })).status, 200);
    assert.equal((await subscriptionOf(sandbox, id)).status, "active");
  });
});

describe("a cancellation", () => {
  test("at the period's end can be undone, and else ends it without another invoice", async (t) => {
    const sandbox = await start(t);
    const { id, items } = await subscribe(sandbox);
    const end = items.data[0]?.current_period_end;
    const path = `/subscriptions/${id}`;
    const cancel = { cancel_at_period_end: "true" };
    const leaving = await ok<Subscription>(post(sandbox, path, cancel));
    assert.deepEqual([leaving.cancel_at_period_end, leaving.cancel_at], [true, end]);
    const staying = await ok<Subscription>(post(sandbox, path, { cancel_at_period_end: "false" }));
    assert.deepEqual([staying.cancel_at_period_end, staying.cancel_at], [false, null]);
    await ok(post(sandbox, path, { cancel_at: "max_period_end" }));
    await advance(sandbox, 32 * day);
    const ended = await subscriptionOf(sandbox, id);
    assert.deepEqual([ended.status, ended.ended_at], ["canceled", end]);
    assert.equal((await ok<List<Invoice>>(get(sandbox, "/invoices"))).data.length, 1);
    await refused(post(sandbox, path, cancel), 400);
  });

  test("at once is final", async (t) => {
    const sandbox = await start(t);
    const { id } = await subscribe(sandbox);
    const init = { method: "DELETE", headers: { authorization: "Bearer sk_test_sandbox" } };
    const url = `${sandbox.url}/v1/subscriptions/${id}`;
    assert.equal((await ok<Subscription>(fetch(url, init))).status, "canceled");
    assert.equal((await typesOf(sandbox)).at(-1), "customer.subscription.deleted");
    await refused(fetch(url, init), 400);
  });
});
