import { z } from "zod";

// What is read of the provider's objects, in the shapes of its recent versions and of those before 2025: periods on the
// items or on the subscription itself, an invoice's subscription under `parent` or at the top.

const seconds = z
  .number()
  .int()
  .min(0)
  .max(253_402_300_799)
  .transform((value) => new Date(value * 1_000));
const perhaps = seconds.nullish().transform((value) => value ?? null);
const reference = z
  .union([z.string(), z.object({ id: z.string() })])
  .transform((value) => (typeof value === "string" ? value : value.id));
const metadata = z.record(z.string(), z.string()).nullish();

const item = z.object({
  id: z.string(),
  price: z.object({ id: z.string() }),
  current_period_start: perhaps,
  current_period_end: perhaps,
});

export const subscriptionShape = z
  .object({
    id: z.string(),
    status: z.string(),
    customer: reference,
    items: z.object({ data: z.array(item).min(1) }),
    current_period_start: perhaps,
    current_period_end: perhaps,
    created: perhaps,
    start_date: perhaps,
    trial_end: perhaps,
    cancel_at: perhaps,
    cancel_at_period_end: z.boolean().nullish(),
    pending_update: z
      .object({ subscription_items: z.array(z.object({ price: reference })).nullish() })
      .nullish(),
    metadata,
  })
  .transform((given, context) => {
    const [first] = given.items.data;
    const periodStart = first?.current_period_start ?? given.current_period_start;
    const periodEnd = first?.current_period_end ?? given.current_period_end;
    if (!first || !periodStart || !periodEnd) {
      context.addIssue({ code: "custom", message: "has no period" });
      return z.NEVER;
    }
    return {
      subscriptionId: given.id,
      customerId: given.customer,
      userId: given.metadata?.["user_id"] ?? null,
      status: given.status,
      itemId: first.id,
      priceId: first.price.id,
      pendingPriceId: given.pending_update?.subscription_items?.[0]?.price ?? null,
      periodStart,
      periodEnd,
      startedAt: given.start_date ?? given.created ?? periodStart,
      trialEnd: given.trial_end,
      cancelAtPeriodEnd: given.cancel_at_period_end === true || given.cancel_at !== null,
    };
  });
export type SubscriptionSnapshot = z.output<typeof subscriptionShape>;

const line = z.object({
  period: z.object({ start: seconds, end: seconds }),
  pricing: z.object({ price_details: z.object({ price: reference }).nullish() }).nullish(),
  price: z.object({ id: z.string() }).nullish(),
  proration: z.boolean().nullish(),
  parent: z
    .object({
      subscription_item_details: z.object({ proration: z.boolean().nullish() }).nullish(),
    })
    .nullish(),
});

export const invoiceShape = z
  .object({
    id: z.string(),
    customer: reference.nullish(),
    billing_reason: z.string().nullish(),
    attempt_count: z.number().nullish(),
    next_payment_attempt: perhaps,
    hosted_invoice_url: z.string().nullish(),
    subscription: reference.nullish(),
    subscription_details: z.object({ metadata }).nullish(),
    parent: z
      .object({ subscription_details: z.object({ subscription: reference, metadata }).nullish() })
      .nullish(),
    lines: z.object({ data: z.array(line) }),
  })
  .transform((given) => {
    const details = given.parent?.subscription_details;
    const renewed = given.lines.data.find(
      (each) => !(each.proration ?? each.parent?.subscription_item_details?.proration),
    );
    const priceId = renewed?.pricing?.price_details?.price ?? renewed?.price?.id;
    return {
      invoiceId: given.id,
      subscriptionId: details?.subscription ?? given.subscription ?? null,
      userId: (details?.metadata ?? given.subscription_details?.metadata)?.["user_id"] ?? null,
      customerId: given.customer ?? null,
      reason: given.billing_reason ?? "",
      attempts: given.attempt_count ?? 0,
      nextAttemptAt: given.next_payment_attempt,
      payUrl: given.hosted_invoice_url ?? null,
      period: renewed && priceId ? { ...renewed.period, priceId } : null,
    };
  });
export type InvoiceFacts = z.output<typeof invoiceShape>;

export const sessionShape = z
  .object({
    id: z.string(),
    status: z.string().nullish(),
    payment_status: z.string().nullish(),
    customer: reference.nullish(),
    subscription: z.union([z.string(), z.object({ id: z.string() })]).nullish(),
    client_reference_id: z.string().nullish(),
    metadata,
  })
  .transform((given) => ({
    sessionId: given.id,
    isComplete: given.status === "complete" && given.payment_status !== "unpaid",
    customerId: given.customer ?? null,
    subscriptionId:
      typeof given.subscription === "string"
        ? given.subscription
        : (given.subscription?.id ?? null),
    userId: given.client_reference_id ?? given.metadata?.["user_id"] ?? null,
  }));

export const eventShape = z.object({
  id: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  type: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  created: seconds,
  data: z.object({
    object: z.looseObject({}),
    previous_attributes: z.looseObject({}).nullish(),
  }),
});
export type ProviderEvent = z.output<typeof eventShape>;
