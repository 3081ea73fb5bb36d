import { z } from "zod";
import type { Api } from "./api.ts";
import { flag, mergeMetadata, metadata, whole } from "./form.ts";
import { listOf, listShape, nothing } from "./lists.ts";
import { find, invalidRequest } from "./refusals.ts";
import { newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { CheckoutOrder, CheckoutSession } from "./session-shapes.ts";
import { expireSession } from "./timeline.ts";

const hour = 60 * 60;
const address = z.url({ protocol: /^https?$/, error: "Not a valid URL" });

const shape = z.strictObject({
  mode: z.literal("subscription"),
  line_items: z.array(z.strictObject({ price: z.string(), quantity: whole.default(1) })).min(1),
  success_url: address,
  cancel_url: address.optional(),
  customer: z.string().optional(),
  customer_email: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, "Not a valid email address")
    .optional(),
  client_reference_id: z.string().max(200).optional(),
  metadata: metadata.optional(),
  subscription_data: z
    .strictObject({
      trial_period_days: whole.refine((days) => days >= 1 && days <= 730).optional(),
      trial_end: whole.optional(),
      trial_settings: z
        .strictObject({
          end_behavior: z.strictObject({
            missing_payment_method: z.enum(["cancel", "create_invoice", "pause"]),
          }),
        })
        .optional(),
      metadata: metadata.optional(),
    })
    .default({}),
  payment_method_collection: z.enum(["always", "if_required"]).default("always"),
  allow_promotion_codes: flag.optional(),
  automatic_tax: z.strictObject({ enabled: flag }).default({ enabled: false }),
  billing_address_collection: z.enum(["auto", "required"]).optional(),
  locale: z.string().optional(),
  expires_at: whole.optional(),
  ui_mode: z.literal("hosted_page").default("hosted_page"),
});

type Input = z.output<typeof shape>;

export function checkoutRoutes(api: Api, payments: Payments): void {
  const { sessions } = payments;
  const path = "/checkout/sessions";
  api.post({ path, name: "checkout.create", shape }, (input) => createSession(payments, input));
  api.get(
    {
      path,
      name: "checkout.list",
      shape: listShape.extend({
        customer: z.string().optional(),
        subscription: z.string().optional(),
        status: z.enum(["open", "complete", "expired"]).optional(),
      }),
    },
    ({ customer, subscription, status, ...page }) => {
      const matching = Array.from(sessions.values()).filter(
        (session) =>
          (customer === undefined || session.customer === customer) &&
          (subscription === undefined || session.subscription === subscription) &&
          (status === undefined || session.status === status),
      );
      return listOf(page, matching, `/v1${path}`);
    },
  );
  api.get({ path: `${path}/:id`, name: "checkout.retrieve", shape: nothing }, (_input, id) =>
    find(sessions, "checkout.session", id),
  );
  api.post(
    { path: `${path}/:id/expire`, name: "checkout.expire", shape: nothing },
    (_input, id) => {
      const session = find(sessions, "checkout.session", id);
      if (session.status !== "open") {
        const message = `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`;
        throw invalidRequest(message);
      }
      return expireSession(payments, session);
    },
  );
}

function createSession(payments: Payments, input: Input): CheckoutSession {
  const order = orderOf(payments, input);
  const now = payments.now();
  const { customer, expires_at: expiresAt = now + 24 * hour } = input;
  if (customer !== undefined && input.customer_email !== undefined) {
    throw invalidRequest(
      "You may only specify one of these parameters: customer, customer_email.",
      {
        param: "customer",
      },
    );
  }
  if (customer !== undefined) find(payments.customers, "customer", customer, "customer");
  if (expiresAt < now + hour / 2 || expiresAt > now + 24 * hour) {
    const message = "The `expires_at` timestamp must be between 30 minutes and 24 hours from now.";
    throw invalidRequest(message, { param: "expires_at" });
  }
  const isTrial = order.trialDays !== null || order.trialEnd !== null;
  const total = order.lineItems.reduce((sum, { price, quantity }) => {
    const { unit_amount: amount } = find(payments.prices, "price", price, "line_items[0][price]");
    return sum + amount * quantity;
  }, 0);
  const id = newId("cs_test");
  const session: CheckoutSession = {
    id,
    object: "checkout.session",
    allow_promotion_codes: input.allow_promotion_codes ?? null,
    amount_subtotal: isTrial ? 0 : total,
    amount_total: isTrial ? 0 : total,
    automatic_tax: input.automatic_tax,
    billing_address_collection: input.billing_address_collection ?? null,
    cancel_url: input.cancel_url ?? null,
    client_reference_id: input.client_reference_id ?? null,
    created: now,
    currency: "usd",
    customer: customer ?? null,
    customer_details: null,
    customer_email: input.customer_email ?? null,
    expires_at: expiresAt,
    invoice: null,
    livemode: false,
    locale: input.locale ?? null,
    metadata: mergeMetadata({}, input.metadata),
    mode: "subscription",
    payment_intent: null,
    payment_method_collection: input.payment_method_collection,
    payment_status: isTrial ? "no_payment_required" : "unpaid",
    status: "open",
    subscription: null,
    success_url: input.success_url,
    ui_mode: input.ui_mode,
    url: `${payments.origin}/payments/checkout/${id}`,
  };
  payments.sessions.set(id, session);
  payments.orders.set(id, order);
  return session;
}

function orderOf(
  payments: Payments,
  { line_items, subscription_data: data }: Input,
): CheckoutOrder {
  const { trial_period_days: days, trial_end: end } = data;
  if (days !== undefined && end !== undefined) {
    throw invalidRequest("You may only specify one of trial_end and trial_period_days.");
  }
  if (end !== undefined && end < payments.now() + 48 * hour) {
    const message = "The `trial_end` date has to be at least 2 days in the future.";
    throw invalidRequest(message, { param: "subscription_data[trial_end]" });
  }
  return {
    lineItems: line_items.map((item) => ({ id: newId("li"), ...item })),
    trialDays: days ?? null,
    trialEnd: end ?? null,
    missingMethod: data.trial_settings?.end_behavior.missing_payment_method ?? "create_invoice",
    metadata: mergeMetadata({}, data.metadata),
  };
}
