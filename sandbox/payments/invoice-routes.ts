import { z } from "zod";
import type { Api } from "./api.ts";
import { collect } from "./collecting.ts";
import { whole } from "./form.ts";
import { intentOf, invoiceOf } from "./intents.ts";
import { billOf } from "./invoices.ts";
import { periodLines } from "./lines.ts";
import { listOf, listShape, nothing } from "./lists.ts";
import { quoteOf } from "./plan-change.ts";
import { cardRefusal, find, invalidRequest } from "./refusals.ts";
import { newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { Invoice } from "./shapes.ts";
import { itemChanges, prorationBehavior } from "./subscription-routes.ts";
import { nextPeriodEnd, periodOf, withPeriod } from "./subscriptions.ts";

const preview = z.strictObject({
  customer: z.string().optional(),
  subscription: z.string(),
  subscription_details: z
    .strictObject({
      items: itemChanges.optional(),
      proration_behavior: prorationBehavior.optional(),
      proration_date: whole.optional(),
      billing_cycle_anchor: z.enum(["now", "unchanged"]).optional(),
      trial_end: z.literal("now").optional(),
    })
    .default({}),
});

const filters = {
  customer: z.string().optional(),
  subscription: z.string().optional(),
  status: z.enum(["draft", "open", "paid", "uncollectible", "void"]).optional(),
};

export function invoiceRoutes(api: Api, payments: Payments): void {
  const { invoices, intents } = payments;
  api.get(
    { path: "/invoices", name: "invoices.list", shape: listShape.extend(filters) },
    ({ customer, subscription, status, ...page }) => {
      const matching = Array.from(invoices.values()).filter(
        (each) =>
          (customer === undefined || each.customer === customer) &&
          (status === undefined || each.status === status) &&
          (subscription === undefined ||
            each.parent.subscription_details.subscription === subscription),
      );
      return listOf(page, matching, "/v1/invoices");
    },
  );
  api.get({ path: "/invoices/:id", name: "invoices.retrieve", shape: nothing }, (_input, id) =>
    find(invoices, "invoice", id),
  );
  api.post(
    { path: "/invoices/create_preview", name: "invoices.preview", shape: preview },
    (input) => previewOf(payments, input),
  );
  api.post({ path: "/invoices/:id/pay", name: "invoices.pay", shape: nothing }, (_input, id) =>
    pay(payments, find(invoices, "invoice", id)),
  );
  api.get(
    {
      path: "/invoice_payments",
      name: "invoice_payments.list",
      shape: listShape.extend({ invoice: z.string().optional() }),
    },
    ({ invoice, ...page }) => {
      const matching = Array.from(payments.invoicePayments.values()).filter(
        (each) => invoice === undefined || each.invoice === invoice,
      );
      return listOf(page, matching, "/v1/invoice_payments");
    },
  );
  api.get(
    { path: "/payment_intents/:id", name: "payment_intents.retrieve", shape: nothing },
    (_input, id) => find(intents, "payment_intent", id),
  );
  api.post(
    { path: "/payment_intents/:id/confirm", name: "payment_intents.confirm", shape: nothing },
    (_input, id) => {
      const { status } = find(intents, "payment_intent", id);
      if (status !== "requires_confirmation" && status !== "requires_payment_method") {
        const message = `You cannot confirm this PaymentIntent because it has a status of ${status}.`;
        throw invalidRequest(message, { code: "payment_intent_unexpected_state" });
      }
      pay(payments, invoiceOf(payments, id));
      return find(intents, "payment_intent", id);
    },
  );
}

/** With the saved card. A decline is a 402 that has happened: it is counted and told. */
function pay(payments: Payments, { id, status }: Invoice): Invoice {
  if (status !== "open") throw invalidRequest(`Invoice is ${status} and cannot be paid.`);
  const invoice = collect(payments, id);
  const error = intentOf(payments, id)?.last_payment_error;
  if (invoice.status !== "paid" && error) throw cardRefusal(error);
  return invoice;
}

/** What the next invoice would be: only the change when that is invoiced at once, else with the next period. */
function previewOf(payments: Payments, input: z.output<typeof preview>): Invoice {
  const subscription = find(
    payments.subscriptions,
    "subscription",
    input.subscription,
    "subscription",
  );
  if (input.customer !== undefined && input.customer !== subscription.customer) {
    throw invalidRequest("The subscription does not belong to this customer.", {
      param: "customer",
    });
  }
  const quote = quoteOf(payments, subscription, input.subscription_details);
  const period = periodOf(subscription);
  const next = nextPeriodEnd(period.end, subscription.billing_cycle_anchor);
  const following = quote.isImmediate
    ? []
    : periodLines(withPeriod(quote.items, { start: period.end, end: next }));
  const waiting = payments.waitingLines.get(subscription.id) ?? [];
  const lines = [...waiting, ...quote.lines, ...following];
  const reason = quote.isImmediate ? "subscription_update" : "subscription_cycle";
  return billOf(payments, subscription, { reason, lines, period }, newId("upcoming_in"));
}
