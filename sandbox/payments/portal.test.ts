import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Sandbox } from "../app.ts";
import {
  advance,
  cards,
  day,
  decide,
  get,
  ok,
  post,
  refused,
  start,
  subscribe,
  subscriptionOf,
  typesOf,
} from "./payments.testing.ts";
import type { PaymentMethod, Subscription } from "./shapes.ts";

const returnUrl = "http://127.0.0.1:3000/settings";

interface Portal {
  sandbox: Sandbox;
  subscription: Subscription;
  url: string;
}

async function open(t: TestContext): Promise<Portal> {
  const sandbox = await start(t);
  const subscription = await subscribe(sandbox);
  const form = { customer: subscription.customer, return_url: returnUrl };
  const { url } = await ok<{ url: string }>(post(sandbox, "/billing_portal/sessions", form));
  return { sandbox, subscription, url };
}

test("the portal shows the plan, the invoices and the way back", async (t) => {
  const { url } = await open(t);
  const text = await (await fetch(url)).text();
  for (const shown of ["Starter", "SANDBOX-0001", `href="${returnUrl}"`]) {
    assert.ok(text.includes(shown), shown);
  }
});

test("cancelling there sets cancel_at and leaves cancel_at_period_end, until it is undone", async (t) => {
  const { sandbox, subscription, url } = await open(t);
  const { id, items } = subscription;
  assert.equal((await decide(url, { decision: "cancel", subscription: id })).status, 303);
  const leaving = await subscriptionOf(sandbox, id);
  assert.equal(leaving.cancel_at, items.data[0]?.current_period_end);
  assert.equal(leaving.cancel_at_period_end, false);
  assert.equal((await typesOf(sandbox)).at(-1), "customer.subscription.updated");
  assert.equal((await decide(url, { decision: "undo", subscription: id })).status, 303);
  assert.equal((await subscriptionOf(sandbox, id)).cancel_at, null);
});

test("a plan changed there is paid at once, or not changed", async (t) => {
  const { sandbox, subscription, url } = await open(t);
  const { id } = subscription;
  const plan = { decision: "plan", subscription: id, price: "price_pro" };
  await decide(url, { decision: "card", card: cards.failsLater });
  assert.equal((await decide(url, plan)).status, 402);
  assert.equal((await subscriptionOf(sandbox, id)).items.data[0]?.price.id, "price_starter");
  await decide(url, { decision: "card", card: cards.pays });
  assert.equal((await decide(url, plan)).status, 303);
  assert.equal((await subscriptionOf(sandbox, id)).items.data[0]?.price.id, "price_pro");
});

test("a card taken there pays from then on, a declined one does not replace it", async (t) => {
  const { sandbox, subscription, url } = await open(t);
  assert.equal((await decide(url, { decision: "card", card: cards.declined })).status, 402);
  assert.equal((await decide(url, { decision: "card", card: cards.failsLater })).status, 303);
  const path = `/subscriptions/${subscription.id}?expand[]=default_payment_method`;
  const { default_payment_method: method } = await ok<{ default_payment_method: PaymentMethod }>(
    get(sandbox, path),
  );
  assert.equal(method.card.last4, "0341");
});

test("nobody changes another customer's subscription there", async (t) => {
  const { sandbox, url } = await open(t);
  const other = await subscribe(sandbox);
  assert.equal((await decide(url, { decision: "cancel", subscription: other.id })).status, 400);
  assert.equal((await subscriptionOf(sandbox, other.id)).cancel_at, null);
});

test("a portal address stops working, and a portal needs a customer", async (t) => {
  const { sandbox, url } = await open(t);
  await advance(sandbox, day);
  assert.equal((await fetch(url)).status, 404);
  const error = await refused(
    post(sandbox, "/billing_portal/sessions", { customer: "cus_x" }),
    400,
  );
  assert.deepEqual([error.code, error.param], ["resource_missing", "customer"]);
});
