import { inOrder } from "./event-order.ts";
import type { StoredEvent } from "./event-order.ts";
import { invoiceShape, sessionShape, subscriptionShape } from "./provider-shapes.ts";
import type { InvoiceFacts, SubscriptionSnapshot } from "./provider-shapes.ts";

// What is true of a subscription, read from everything that was ever told about it. The order is that of the events
// themselves, so the same events give the same truth in whatever order they came.

export interface Period {
  start: Date;
  end: Date;
  priceId: string;
}

export interface Notice {
  kind: "trial_will_end" | "payment_failed";
  key: string;
  details: Record<string, unknown>;
}

export interface History {
  userId: string | null;
  customerId: string | null;
  /** Null while nothing but invoices and sessions is known. */
  latest: SubscriptionSnapshot | null;
  hasEnded: boolean;
  /** The price of the running period, and the one that follows it. */
  periodPriceId: string | null;
  pendingPriceId: string | null;
  /** Those that credits are granted for. */
  periods: Period[];
  notices: Notice[];
}

/** What is told when a subscription begins. Later its price may be another, for credits of the next period. */
const beginnings = new Set(["checkout.session.verified", "customer.subscription.created"]);
const isOwed = new Set(["trialing", "active"]);
const ended = new Set(["canceled", "incomplete_expired"]);

function addSnapshot(
  history: History,
  { type }: StoredEvent,
  snapshot: SubscriptionSnapshot,
): void {
  history.userId ??= snapshot.userId;
  history.customerId ??= snapshot.customerId;
  const isFirstPeriod = snapshot.periodStart.getTime() === snapshot.startedAt.getTime();
  if (beginnings.has(type) && isFirstPeriod && isOwed.has(snapshot.status)) {
    const { periodStart: start, periodEnd: end, priceId } = snapshot;
    history.periods.push({ start, end, priceId });
  }
  if (type === "customer.subscription.trial_will_end" && snapshot.status === "trialing") {
    const trialEnd = snapshot.trialEnd?.toISOString() ?? null;
    const key = `trial_will_end:${snapshot.subscriptionId}:${trialEnd}`;
    history.notices.push({ kind: "trial_will_end", key, details: { trialEnd } });
  }
  // An end is an end, whatever is told later.
  if (history.hasEnded) return;
  const isNewPeriod =
    !history.latest || snapshot.periodStart.getTime() > history.latest.periodStart.getTime();
  if (isNewPeriod) history.periodPriceId = snapshot.priceId;
  const hasChanged = snapshot.priceId !== history.periodPriceId;
  history.pendingPriceId = snapshot.pendingPriceId ?? (hasChanged ? snapshot.priceId : null);
  history.latest = snapshot;
  history.hasEnded = type === "customer.subscription.deleted" || ended.has(snapshot.status);
}

const renewals = new Set(["subscription_create", "subscription_cycle"]);

function addInvoice(history: History, { type }: StoredEvent, invoice: InvoiceFacts): void {
  history.userId ??= invoice.userId;
  history.customerId ??= invoice.customerId;
  if (type === "invoice.payment_succeeded") {
    if (invoice.period && renewals.has(invoice.reason)) history.periods.push(invoice.period);
    if (history.latest?.status === "past_due")
      history.latest = { ...history.latest, status: "active" };
    return;
  }
  if (history.latest && isOwed.has(history.latest.status))
    history.latest = { ...history.latest, status: "past_due" };
  const { invoiceId, attempts, nextAttemptAt, payUrl } = invoice;
  history.notices.push({
    kind: "payment_failed",
    key: `payment_failed:${invoiceId}:${attempts}`,
    details: { invoiceId, payUrl, nextAttemptAt: nextAttemptAt?.toISOString() ?? null },
  });
}

export function readHistory(events: readonly StoredEvent[]): History {
  const history: History = {
    userId: null,
    customerId: null,
    latest: null,
    hasEnded: false,
    periodPriceId: null,
    pendingPriceId: null,
    periods: [],
    notices: [],
  };
  for (const event of inOrder(events)) {
    if (event.type === "checkout.session.completed") {
      const session = sessionShape.safeParse(event.payload).data;
      history.userId ??= session?.userId ?? null;
      history.customerId ??= session?.customerId ?? null;
    } else if (event.type.startsWith("invoice.")) {
      const invoice = invoiceShape.safeParse(event.payload).data;
      if (invoice) addInvoice(history, event, invoice);
    } else {
      const snapshot = subscriptionShape.safeParse(event.payload).data;
      if (snapshot) addSnapshot(history, event, snapshot);
    }
  }
  return history;
}

/** Which subscription an event is about. */
export function subscriptionOf(type: string, payload: unknown): string | null {
  if (type.startsWith("checkout.session."))
    return sessionShape.safeParse(payload).data?.subscriptionId ?? null;
  if (type.startsWith("invoice."))
    return invoiceShape.safeParse(payload).data?.subscriptionId ?? null;
  return subscriptionShape.safeParse(payload).data?.subscriptionId ?? null;
}
