import { chargeOutcome, methodOf } from "./cards.ts";
import { collect } from "./collecting.ts";
import { changeSubscription } from "./events.ts";
import { amountDue, draftInvoice, finalize } from "./invoices.ts";
import { periodLines, prorationLines, unusedLines } from "./lines.ts";
import { cardRefusal, find, invalidRequest } from "./refusals.ts";
import { must, newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { Invoice, InvoiceLine, Subscription, SubscriptionItem } from "./shapes.ts";
import { nextPeriodEnd, periodOf, withPeriod } from "./subscriptions.ts";
import { expirePending, warn } from "./timeline.ts";

export interface ItemChange {
  id?: string | undefined;
  price?: string | undefined;
  quantity?: number | undefined;
  deleted?: boolean | undefined;
}

export interface PlanChange {
  items?: ItemChange[] | undefined;
  proration_behavior?: "create_prorations" | "always_invoice" | "none" | undefined;
  proration_date?: number | undefined;
  billing_cycle_anchor?: "now" | "unchanged" | undefined;
  trial_end?: "now" | undefined;
  payment_behavior?:
    | "allow_incomplete"
    | "default_incomplete"
    | "error_if_incomplete"
    | "pending_if_incomplete"
    | undefined;
}

/** What a change would make of the items, and what it would cost. */
export interface Quote {
  items: SubscriptionItem[];
  lines: InvoiceLine[];
  /** Invoiced now, not with the next period. */
  isImmediate: boolean;
  startsPeriod: boolean;
  endsTrial: boolean;
}

export function quoteOf(payments: Payments, subscription: Subscription, change: PlanChange): Quote {
  const now = payments.now();
  const kept = changedItems(payments, subscription, change.items ?? []);
  const endsTrial = subscription.status === "trialing" && change.trial_end === "now";
  const isTrial = subscription.status === "trialing" && !endsTrial;
  const startsPeriod = endsTrial || (change.billing_cycle_anchor === "now" && !isTrial);
  const behavior = change.proration_behavior ?? "create_prorations";
  const period = { start: now, end: nextPeriodEnd(now, now) };
  const items = startsPeriod ? withPeriod(kept, period) : kept;
  const at = change.proration_date ?? now;
  const { start, end } = periodOf(subscription);
  if (at < start || at > end) {
    throw invalidRequest("Cannot prorate outside of the current period.", {
      param: "proration_date",
    });
  }
  const isFree = isTrial || endsTrial || behavior === "none";
  const fresh = startsPeriod ? periodLines(items) : [];
  const rest = startsPeriod
    ? unusedLines(subscription, at)
    : prorationLines(subscription, items, at);
  const lines = [...(isFree ? [] : rest), ...fresh];
  const isImmediate = lines.length > 0 && (startsPeriod || behavior === "always_invoice");
  return { items, lines, isImmediate, startsPeriod, endsTrial };
}

function changedItems(
  payments: Payments,
  { id: subscription, items: { data } }: Subscription,
  changes: readonly ItemChange[],
): SubscriptionItem[] {
  const unknown = changes.find(({ id }) => id !== undefined && !data.some((old) => old.id === id));
  if (unknown)
    throw invalidRequest(`Invalid subscription_item id: ${unknown.id}`, { param: "items" });
  const priceOf = ({ price }: ItemChange) =>
    find(payments.prices, "price", price ?? "", "items[price]");
  const kept = data.flatMap((item) => {
    const change = changes.find(({ id }) => id === item.id);
    if (change?.deleted) return [];
    const price = change?.price === undefined ? item.price : priceOf(change);
    return [{ ...item, price, quantity: change?.quantity ?? item.quantity }];
  });
  const [first] = data;
  if (!first) throw new Error(`${subscription} has no items`);
  // An item without an id is a further one, also when a change of price was meant.
  const added = changes
    .filter(({ id }) => id === undefined)
    .map((change) => ({
      ...first,
      id: newId("si"),
      created: payments.now(),
      price: priceOf(change),
      quantity: change.quantity ?? 1,
    }));
  const all = [...kept, ...added];
  if (new Set(all.map(({ price }) => price.id)).size < all.length) {
    throw invalidRequest("Cannot add multiple subscription items with the same plan.", {
      param: "items",
    });
  }
  if (all.length === 0) throw invalidRequest("A subscription must have at least one active plan.");
  return all;
}

/** Changes what is subscribed to; how far it goes when the money is not there is the payment behaviour's to say. */
export function changePlan(payments: Payments, id: string, change: PlanChange): Subscription {
  const subscription = must(payments.subscriptions, id);
  const quote = quoteOf(payments, subscription, change);
  const behavior = change.payment_behavior ?? "allow_incomplete";
  const waiting = payments.waitingLines.get(id) ?? [];
  const total = [...waiting, ...quote.lines].reduce((sum, { amount }) => sum + amount, 0);
  const due = quote.isImmediate
    ? amountDue(must(payments.customers, subscription.customer), total)
    : 0;
  const outcome = due > 0 ? chargeOutcome(payments, methodOf(payments, subscription)) : "ok";
  if (behavior === "error_if_incomplete" && outcome !== "ok") {
    throw outcome === "authenticate" ? actionRequired() : cardRefusal(outcome);
  }
  if (subscription.pending_update) expirePending(payments, subscription);
  if (behavior === "pending_if_incomplete" && outcome !== "ok") {
    return postpone(payments, subscription, quote);
  }
  if (quote.endsTrial) warn(payments, subscription);
  apply(payments, subscription, quote);
  if (!quote.isImmediate) {
    if (quote.lines.length > 0) payments.waitingLines.set(id, [...waiting, ...quote.lines]);
    return must(payments.subscriptions, id);
  }
  const invoice = invoiceNow(payments, subscription, quote);
  const isLeft = behavior === "default_incomplete" && due > 0;
  changeSubscription(payments, id, {
    latest_invoice: invoice.id,
    ...(isLeft && { status: "past_due" as const }),
  });
  if (!isLeft) collect(payments, invoice.id);
  return must(payments.subscriptions, id);
}

function apply(payments: Payments, subscription: Subscription, quote: Quote): void {
  const now = payments.now();
  changeSubscription(payments, subscription.id, {
    items: { ...subscription.items, data: quote.items },
    ...(quote.startsPeriod && { billing_cycle_anchor: now }),
    ...(quote.endsTrial && { status: "active" as const, trial_end: now }),
  });
}

function invoiceNow(payments: Payments, subscription: Subscription, { lines }: Quote): Invoice {
  const period = periodOf(subscription);
  const draft = draftInvoice(payments, subscription, {
    reason: "subscription_update",
    lines,
    period,
  });
  return finalize(payments, draft.id);
}

const pendingSeconds = 23 * 60 * 60;

/** The old plan goes on until the invoice is paid; nobody outlives a period in this state. */
function postpone(payments: Payments, subscription: Subscription, quote: Quote): Subscription {
  const now = payments.now();
  const invoice = invoiceNow(payments, subscription, quote);
  changeSubscription(payments, subscription.id, {
    latest_invoice: invoice.id,
    pending_update: {
      billing_cycle_anchor: quote.startsPeriod ? now : null,
      expires_at: Math.min(now + pendingSeconds, periodOf(subscription).end),
      subscription_items: quote.items,
      trial_end: quote.endsTrial ? now : null,
      trial_from_plan: null,
    },
  });
  collect(payments, invoice.id);
  return must(payments.subscriptions, subscription.id);
}

function actionRequired(): Error {
  return cardRefusal({
    type: "card_error",
    code: "subscription_payment_intent_requires_action",
    message:
      "Payment for this subscription requires additional user action before it can be completed successfully.",
  });
}
