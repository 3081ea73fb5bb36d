import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import type { Sandbox } from "../app.ts";
import {
  advance,
  cards,
  change,
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
  withTrial,
} from "./payments.testing.ts";
import type { Changed } from "./payments.testing.ts";
import type { Invoice, PaymentIntent, Subscription } from "./shapes.ts";

const now = {
  proration_behavior: "always_invoice",
  "expand[0]": "latest_invoice.confirmation_secret",
  "expand[1]": "latest_invoice.payments",
};
const pending = { ...now, payment_behavior: "pending_if_incomplete" };
const priceOf = ({ items }: Pick<Subscription, "items">): string | undefined =>
  items.data[0]?.price.id;

/** Halfway through its month, with a card that does as it is told. */
async function halfway(
  t: TestContext,
  card: string,
): Promise<{ sandbox: Sandbox; subscription: Subscription }> {
  const sandbox = await start(t);
  // A card that fails when it is charged gets in by a trial only.
  const subscription = await subscribe(sandbox, { ...withTrial, card: cards.pays });
  await ok(post(sandbox, `/subscriptions/${subscription.id}`, { trial_end: "now" }));
  if (card !== cards.pays) await useCard(sandbox, subscription.customer, card);
  const { items } = await subscriptionOf(sandbox, subscription.id);
  const [item] = items.data;
  const month = (item?.current_period_end ?? 0) - (item?.current_period_start ?? 0);
  await advance(sandbox, month / 2);
  return { sandbox, subscription };
}

async function useCard(sandbox: Sandbox, customer: string, card: string): Promise<void> {
  const { url } = await ok<{ url: string }>(
    post(sandbox, "/billing_portal/sessions", { customer }),
  );
  assert.equal((await decide(url, { decision: "card", card })).status, 303);
}

const confirmAddress = (sandbox: Sandbox, { latest_invoice: invoice }: Changed): string =>
  `${sandbox.url}/payments/confirm/${invoice.confirmation_secret?.client_secret}`;

function intentOf(sandbox: Sandbox, { latest_invoice: invoice }: Changed): Promise<PaymentIntent> {
  const id = invoice.payments.data[0]?.payment.payment_intent;
  return ok(get(sandbox, `/payment_intents/${id}`));
}

describe("a change of plan that is invoiced at once", () => {
  test("credits the unused half, charges the other plan's half and applies", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.pays);
    const changed = await ok<Changed>(change(sandbox, subscription, now));
    const { latest_invoice: invoice } = changed;
    assert.deepEqual([changed.status, priceOf(changed)], ["active", "price_pro"]);
    const amounts = invoice.lines.data.map(({ amount }) => amount);
    assert.ok(Math.abs((amounts[0] ?? 0) + 950) <= 1 && Math.abs((amounts[1] ?? 0) - 2450) <= 1);
    assert.ok(invoice.lines.data.every((line) => line.parent.subscription_item_details.proration));
    assert.deepEqual([invoice.status, invoice.billing_reason], ["paid", "subscription_update"]);
    assert.equal((await intentOf(sandbox, changed)).status, "succeeded");
  });

  test("costs what the preview said, and the preview changes nothing", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.pays);
    const at = String((await subscriptionOf(sandbox, subscription.id)).created + 10 * day);
    const preview = await ok<Invoice>(
      post(sandbox, "/invoices/create_preview", {
        subscription: subscription.id,
        "subscription_details[items][0][id]": subscription.items.data[0]?.id ?? "",
        "subscription_details[items][0][price]": "price_pro",
        "subscription_details[proration_behavior]": "always_invoice",
        "subscription_details[proration_date]": at,
      }),
    );
    assert.match(preview.id, /^upcoming_in/);
    assert.equal(priceOf(await subscriptionOf(sandbox, subscription.id)), "price_starter");
    const form = { ...now, proration_date: at };
    const { latest_invoice } = await ok<Changed>(change(sandbox, subscription, form));
    assert.equal(latest_invoice.amount_due, preview.amount_due);
  });

  test("to a cheaper plan leaves credit that the next invoice uses", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.pays);
    await ok(change(sandbox, subscription, now));
    const down = { ...now, "items[0][price]": "price_starter" };
    const { latest_invoice: invoice } = await ok<Changed>(change(sandbox, subscription, down));
    assert.deepEqual([invoice.status, invoice.amount_due, invoice.total < 0], ["paid", 0, true]);
    const { balance } = await ok<{ balance: number }>(
      get(sandbox, `/customers/${subscription.customer}`),
    );
    assert.equal(balance, invoice.total);
    await advance(sandbox, 17 * day);
    const path = `/invoices?subscription=${subscription.id}`;
    const [renewal] = (await ok<{ data: Invoice[] }>(get(sandbox, path))).data;
    assert.deepEqual([renewal?.total, renewal?.amount_paid], [1900, 1900 + balance]);
  });
});

describe("when the card fails", () => {
  test("allow_incomplete applies and falls past due", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.failsLater);
    const changed = await ok<Changed>(change(sandbox, subscription, now));
    assert.deepEqual([changed.status, priceOf(changed)], ["past_due", "price_pro"]);
    assert.equal(changed.latest_invoice.status, "open");
    assert.ok((await typesOf(sandbox)).includes("invoice.payment_failed"));
  });

  test("error_if_incomplete is 402 and changes nothing", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.failsLater);
    const before = await subscriptionOf(sandbox, subscription.id);
    const form = { ...now, payment_behavior: "error_if_incomplete" };
    const error = await refused(change(sandbox, subscription, form), 402);
    assert.deepEqual([error.type, error.code], ["card_error", "card_declined"]);
    assert.deepEqual(await subscriptionOf(sandbox, subscription.id), before);
  });

  test("pending_if_incomplete keeps the plan until another card pays", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.failsLater);
    const changed = await ok<Changed>(change(sandbox, subscription, pending));
    assert.deepEqual([changed.status, priceOf(changed)], ["active", "price_starter"]);
    assert.equal(changed.pending_update?.subscription_items[0]?.price.id, "price_pro");
    const page = confirmAddress(sandbox, changed);
    assert.equal((await decide(page, { decision: "pay", card: cards.pays })).status, 200);
    const applied = await subscriptionOf(sandbox, subscription.id);
    assert.deepEqual([priceOf(applied), applied.pending_update], ["price_pro", null]);
  });
});

describe("when the card asks first", () => {
  test("pending_if_incomplete gives a secret, and applies when it is approved", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.confirmedAlways);
    const changed = await ok<Changed>(change(sandbox, subscription, pending));
    const intent = await intentOf(sandbox, changed);
    assert.deepEqual([changed.status, priceOf(changed)], ["active", "price_starter"]);
    assert.equal(intent.status, "requires_action");
    assert.equal(changed.latest_invoice.confirmation_secret?.client_secret, intent.client_secret);
    const back = encodeURIComponent("http://127.0.0.1:3000/settings");
    const page = `${confirmAddress(sandbox, changed)}?return_url=${back}`;
    assert.match(await (await fetch(page)).text(), /value="approve"/);
    const approved = await decide(page, { decision: "approve" });
    const location = new URL(approved.headers.get("location") ?? "");
    assert.equal(location.searchParams.get("redirect_status"), "succeeded");
    const applied = await subscriptionOf(sandbox, subscription.id);
    assert.deepEqual([priceOf(applied), applied.pending_update], ["price_pro", null]);
    const types = await typesOf(sandbox);
    assert.ok(types.includes("invoice.payment_action_required"));
    assert.ok(types.includes("customer.subscription.pending_update_applied"));
  });

  test("a declined confirmation keeps the plan, and 23 hours later the change is dropped", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.confirmedAlways);
    const changed = await ok<Changed>(change(sandbox, subscription, pending));
    const page = confirmAddress(sandbox, changed);
    assert.equal((await decide(page, { decision: "decline" })).status, 402);
    const kept = await subscriptionOf(sandbox, subscription.id);
    assert.deepEqual([kept.status, priceOf(kept)], ["active", "price_starter"]);
    assert.ok(kept.pending_update);
    await advance(sandbox, 23 * 60 * 60);
    const dropped = await subscriptionOf(sandbox, subscription.id);
    assert.deepEqual([dropped.pending_update, priceOf(dropped)], [null, "price_starter"]);
    const invoice = await ok<Invoice>(get(sandbox, `/invoices/${changed.latest_invoice.id}`));
    assert.equal(invoice.status, "void");
    assert.equal((await typesOf(sandbox)).at(-1), "customer.subscription.pending_update_expired");
  });

  test("default_incomplete applies, and is past due until it is confirmed", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.pays);
    const form = { ...now, payment_behavior: "default_incomplete" };
    const changed = await ok<Changed>(change(sandbox, subscription, form));
    assert.deepEqual([changed.status, priceOf(changed)], ["past_due", "price_pro"]);
    const intent = await intentOf(sandbox, changed);
    assert.equal(intent.status, "requires_confirmation");
    await ok(post(sandbox, `/payment_intents/${intent.id}/confirm`));
    assert.equal((await subscriptionOf(sandbox, subscription.id)).status, "active");
  });

  test("error_if_incomplete is 402 and changes nothing", async (t) => {
    const { sandbox, subscription } = await halfway(t, cards.confirmedAlways);
    const form = { ...now, payment_behavior: "error_if_incomplete" };
    const error = await refused(change(sandbox, subscription, form), 402);
    assert.equal(error.code, "subscription_payment_intent_requires_action");
    assert.equal(priceOf(await subscriptionOf(sandbox, subscription.id)), "price_starter");
  });
});

test("pending_if_incomplete refuses what may not travel with it", async (t) => {
  const { sandbox, subscription } = await halfway(t, cards.pays);
  const form = { ...pending, "metadata[a]": "b" };
  assert.equal((await refused(change(sandbox, subscription, form), 400)).param, "metadata");
});

test("during a trial a change of plan costs nothing", async (t) => {
  const sandbox = await start(t);
  const subscription = await subscribe(sandbox, withTrial);
  const changed = await ok<Changed>(change(sandbox, subscription, now));
  assert.deepEqual([changed.status, priceOf(changed)], ["trialing", "price_pro"]);
  assert.equal(changed.latest_invoice.id, subscription.latest_invoice);
  assert.equal(changed.latest_invoice.confirmation_secret, null);
});

test("without an item's id a price is added, and prorations wait for the next invoice", async (t) => {
  const { sandbox, subscription } = await halfway(t, cards.pays);
  const path = `/subscriptions/${subscription.id}`;
  const changed = await ok<Subscription>(post(sandbox, path, { "items[0][price]": "price_pro" }));
  assert.equal(changed.items.data.length, 2);
  await advance(sandbox, 17 * day);
  const { latest_invoice: id } = await subscriptionOf(sandbox, subscription.id);
  const { lines } = await ok<Invoice>(get(sandbox, `/invoices/${id}`));
  const prorations = lines.data.map((line) => line.parent.subscription_item_details.proration);
  assert.deepEqual(prorations, [true, false, false]);
});
