import { createHmac, randomBytes } from "node:crypto";

// The payment provider's events, made by hand in its wire shapes, for what it would never send by itself: every order,
// every repetition, every forgery.

export const secret = "whsec_sandbox";
export const day = 86_400;

export interface WireEvent {
  id: string;
  type: string;
  created: number;
  data: { object: Record<string, unknown>; previous_attributes?: Record<string, unknown> };
  [more: string]: unknown;
}

/** One subscription of one user: a trial of seven days, then periods of thirty. */
export interface Story {
  /** Part of every id, so that what became of two stories can be compared. */
  name: string;
  userId: string;
  customer: string;
  subscription: string;
  started: number;
  price: string;
  /** Where the provider's versions differ: as since 2025, or as before. */
  shape: "recent" | "old";
  /** Whether subscription and invoices name the user, or the checkout alone. */
  isNamed: boolean;
}

export function newStory(given: Partial<Story> = {}): Story {
  const name = given.name ?? randomBytes(8).toString("hex");
  return {
    name,
    userId: `user_${name}`,
    customer: `cus_${name}`,
    subscription: `sub_${name}`,
    started: 1_790_000_000,
    price: "price_starter",
    shape: "recent",
    isNamed: true,
    ...given,
  };
}

function eventOf(
  type: string,
  created: number,
  object: Record<string, unknown>,
  previous?: Record<string, unknown>,
): WireEvent {
  return {
    id: `evt_${randomBytes(12).toString("hex")}`,
    object: "event",
    type,
    api_version: "2026-07-29.dahlia",
    created,
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    data: { object, ...(previous && { previous_attributes: previous }) },
  };
}

function periodOf({ started }: Story, index: number): { start: number; end: number } {
  if (index === 0) return { start: started, end: started + 7 * day };
  const start = started + 7 * day + (index - 1) * 30 * day;
  return { start, end: start + 30 * day };
}

const metadataOf = ({ userId, isNamed }: Story): Record<string, string> =>
  isNamed ? { user_id: userId } : {};

/** `at`: seconds since the story began. */
export function checkoutEvent(story: Story, at: number): WireEvent {
  return eventOf("checkout.session.completed", story.started + at, {
    id: `cs_test_${story.name}`,
    object: "checkout.session",
    mode: "subscription",
    status: "complete",
    payment_status: "no_payment_required",
    amount_total: 0,
    currency: "usd",
    customer: story.customer,
    customer_details: { email: "a@b.c" },
    subscription: story.subscription,
    invoice: `in_${story.name}_0`,
    client_reference_id: story.userId,
    metadata: {},
    url: null,
  });
}

export interface SubscriptionFacts {
  at: number;
  status: string;
  period: number;
  price?: string;
  /** What those of its fields were before that an update is about. */
  previous?: Record<string, unknown>;
}

export function subscriptionEvent(
  story: Story,
  type: "created" | "updated" | "trial_will_end" | "deleted",
  { at, status, period, price = story.price, previous }: SubscriptionFacts,
): WireEvent {
  const { start, end } = periodOf(story, period);
  const dates = { current_period_start: start, current_period_end: end };
  const isRecent = story.shape === "recent";
  const item = {
    id: `si_${story.name}`,
    object: "subscription_item",
    quantity: 1,
    ...(isRecent && dates),
    price: { id: price, product: "prod_1", unit_amount: 1_900, currency: "usd" },
  };
  const object = {
    id: story.subscription,
    object: "subscription",
    status,
    customer: story.customer,
    items: { object: "list", data: [item] },
    ...(!isRecent && dates),
    created: story.started,
    start_date: story.started,
    trial_start: story.started,
    trial_end: story.started + 7 * day,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    ended_at: type === "deleted" ? story.started + at : null,
    latest_invoice: `in_${story.name}_${period}`,
    pending_update: null,
    billing_mode: { type: "flexible" },
    metadata: metadataOf(story),
  };
  return eventOf(`customer.subscription.${type}`, story.started + at, object, previous);
}

export interface InvoiceFacts {
  at: number;
  period: number;
  reason?: string;
  price?: string;
  /** What a change of plan during the period before costs for its rest: a line of its own. */
  prorated?: string;
}

function invoiceLine(story: Story, period: number, price: string, proration: boolean) {
  const { name, subscription } = story;
  const line = { id: `il_${name}_${period}`, amount: 1_900, period: periodOf(story, period) };
  if (story.shape === "old") return { ...line, proration, price: { id: price, object: "price" } };
  return {
    ...line,
    pricing: { type: "price_details", price_details: { price, product: "prod_1" } },
    parent: {
      type: "subscription_item_details",
      subscription_item_details: { subscription, subscription_item: `si_${name}`, proration },
    },
  };
}

export function invoiceEvent(
  story: Story,
  type: "payment_succeeded" | "payment_failed",
  { at, period, reason, price = story.price, prorated }: InvoiceFacts,
): WireEvent {
  const { subscription, name } = story;
  const metadata = metadataOf(story);
  const isPaid = type === "payment_succeeded";
  const amount = period === 0 ? 0 : 1_900;
  const lines = [
    ...(prorated ? [invoiceLine(story, period - 1, prorated, true)] : []),
    invoiceLine(story, period, price, false),
  ];
  const details = { subscription, metadata };
  return eventOf(`invoice.${type}`, story.started + at, {
    id: `in_${name}_${period}`,
    object: "invoice",
    status: isPaid ? "paid" : "open",
    billing_reason: reason ?? (period === 0 ? "subscription_create" : "subscription_cycle"),
    amount_due: amount,
    amount_paid: isPaid ? amount : 0,
    attempt_count: isPaid ? 2 : 1,
    next_payment_attempt: isPaid ? null : story.started + at + 3 * day,
    customer: story.customer,
    ...(story.shape === "recent"
      ? { parent: { type: "subscription_details", subscription_details: details } }
      : { subscription, subscription_details: { metadata } }),
    lines: { object: "list", data: lines },
    hosted_invoice_url: `https://invoice.stripe.com/i/${name}`,
  });
}

/** The seven types of the contract: a trial, a renewal that is paid at the second try, the end. */
export function lifeOf(story: Story): WireEvent[] {
  return [
    subscriptionEvent(story, "created", { at: 0, status: "trialing", period: 0 }),
    checkoutEvent(story, 2),
    subscriptionEvent(story, "trial_will_end", { at: 4 * day, status: "trialing", period: 0 }),
    subscriptionEvent(story, "updated", {
      at: 7 * day,
      status: "active",
      period: 1,
      previous: { status: "trialing", latest_invoice: `in_${story.name}_0` },
    }),
    invoiceEvent(story, "payment_failed", { at: 7 * day + 3_600, period: 1 }),
    invoiceEvent(story, "payment_succeeded", { at: 8 * day, period: 1 }),
    subscriptionEvent(story, "deleted", { at: 20 * day, status: "canceled", period: 1 }),
  ];
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);
export const hmac = (body: string | Buffer, key: string, at: number | string): string =>
  createHmac("sha256", key).update(`${at}.`).update(body).digest("hex");

/** As the provider signs it. */
export function signatureOf(body: string | Buffer, key = secret, at = nowSeconds()): string {
  return `t=${at},v1=${hmac(body, key, at)}`;
}

export function signedRequest(event: unknown, key = secret) {
  const payload = JSON.stringify(event);
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "stripe-signature": signatureOf(payload, key),
  };
  return { method: "POST" as const, url: "/functions/paymentWebhook", headers, payload };
}
