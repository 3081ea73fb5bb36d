import { methodOf } from "./cards.ts";
import { collect } from "./collecting.ts";
import { endSubscription } from "./ending.ts";
import { changeSubscription, emit } from "./events.ts";
import { draftInvoice, finalize, finalizeLater } from "./invoices.ts";
import { periodLines } from "./lines.ts";
import { must, newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { CheckoutOrder } from "./session-shapes.ts";
import type { Invoice, Subscription, SubscriptionItem } from "./shapes.ts";

/** The same day of the next month, or its last day; the anchor's day comes back in a longer month. */
export function nextPeriodEnd(start: number, anchor: number): number {
  const from = new Date(start * 1000);
  const lastDay = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 2, 0);
  const day = Math.min(new Date(anchor * 1000).getUTCDate(), new Date(lastDay).getUTCDate());
  const end = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, day);
  return (end + (from.getTime() % (24 * 60 * 60 * 1000))) / 1000;
}

export function periodOf({ items }: Subscription): { start: number; end: number } {
  const starts = items.data.map(({ current_period_start }) => current_period_start);
  const ends = items.data.map(({ current_period_end }) => current_period_end);
  return { start: Math.min(...starts), end: Math.max(...ends) };
}

export function withPeriod(
  items: readonly SubscriptionItem[],
  { start, end }: { start: number; end: number },
): SubscriptionItem[] {
  return items.map((item) => ({ ...item, current_period_start: start, current_period_end: end }));
}

/** What a completed checkout brings into the world: the subscription and its paid first invoice. */
export function startSubscription(
  payments: Payments,
  order: CheckoutOrder,
  customer: string,
  method: string | null,
): { subscription: Subscription; invoice: Invoice } {
  const now = payments.now();
  const trialEnd = trialEndOf(order, now);
  const anchor = trialEnd ?? now;
  const period = { start: now, end: trialEnd ?? nextPeriodEnd(now, now) };
  const id = newId("sub");
  const items = order.lineItems.map(({ price, quantity }): SubscriptionItem => ({
    id: newId("si"),
    object: "subscription_item",
    created: now,
    current_period_start: period.start,
    current_period_end: period.end,
    metadata: {},
    price: must(payments.prices, price),
    quantity,
    subscription: id,
  }));
  const subscription: Subscription = {
    id,
    object: "subscription",
    billing_cycle_anchor: anchor,
    billing_mode: { type: "flexible" },
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, reason: null },
    collection_method: "charge_automatically",
    created: now,
    currency: "usd",
    customer,
    default_payment_method: method,
    discounts: [],
    ended_at: null,
    items: {
      object: "list",
      data: items,
      has_more: false,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: null,
    livemode: false,
    metadata: order.metadata,
    pause_collection: null,
    pending_setup_intent: null,
    pending_update: null,
    start_date: now,
    status: trialEnd === null ? "active" : "trialing",
    trial_end: trialEnd,
    trial_settings: { end_behavior: { missing_payment_method: order.missingMethod } },
    trial_start: trialEnd === null ? null : now,
  };
  payments.subscriptions.set(id, subscription);
  const draft = draftInvoice(payments, subscription, {
    reason: "subscription_create",
    lines: periodLines(items, trialEnd !== null),
    period: { start: now, end: now },
  });
  const started = { ...subscription, latest_invoice: draft.id };
  payments.subscriptions.set(id, started);
  emit(payments, "customer.subscription.created", started);
  finalize(payments, draft.id);
  // Its owner has just confirmed the card at the page.
  return { subscription: started, invoice: collect(payments, draft.id, "ok") };
}

function trialEndOf({ trialDays, trialEnd }: CheckoutOrder, now: number): number | null {
  return trialDays === null ? trialEnd : now + trialDays * 24 * 60 * 60;
}

/** The next period begins, also the first one after a trial; it is paid for a little later. */
export function renew(payments: Payments, subscription: Subscription): void {
  const ended = periodOf(subscription);
  if (subscription.status === "trialing" && methodOf(payments, subscription) === null) {
    const then = subscription.trial_settings.end_behavior.missing_payment_method;
    if (then === "cancel") {
      endSubscription(payments, subscription, "cancellation_requested");
      return;
    }
    if (then === "pause") {
      const paused = changeSubscription(payments, subscription.id, { status: "paused" });
      emit(payments, "customer.subscription.paused", paused);
      return;
    }
  }
  const end = nextPeriodEnd(ended.end, subscription.billing_cycle_anchor);
  const items = withPeriod(subscription.items.data, { start: ended.end, end });
  const draft = draftInvoice(payments, subscription, {
    reason: "subscription_cycle",
    lines: periodLines(items),
    period: ended,
  });
  changeSubscription(payments, subscription.id, {
    items: { ...subscription.items, data: items },
    latest_invoice: draft.id,
    ...(subscription.status === "trialing" && { status: "active" as const }),
  });
  if (subscription.status !== "unpaid") finalizeLater(payments, draft);
}
