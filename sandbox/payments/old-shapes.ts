import { intentOf } from "./intents.ts";
import { must } from "./state.ts";
import type { Payments } from "./state.ts";
import type { StripeEvent } from "./session-shapes.ts";
import type { Invoice, InvoiceLine, Subscription } from "./shapes.ts";
import { periodOf } from "./subscriptions.ts";

/** An event as an endpoint of the version `acacia` gets it: before periods moved to items, and `parent` came. */
export function inOldShape(payments: Payments, event: StripeEvent): StripeEvent {
  const object = olden(payments, event.data.object as { object: string });
  return { ...event, data: { ...event.data, object } };
}

function olden(payments: Payments, object: { object: string }): object {
  if (object.object === "subscription") return oldSubscription(object as Subscription);
  if (object.object === "invoice") return oldInvoice(payments, object as Invoice);
  if (object.object === "checkout.session") return { ...object, ui_mode: "hosted" };
  return object;
}

function oldSubscription(subscription: Subscription): object {
  const { billing_mode: _mode, ...kept } = subscription;
  const { start, end } = periodOf(subscription);
  const data = kept.items.data.map(
    ({ current_period_start: _start, current_period_end: _end, ...item }) => item,
  );
  return {
    ...kept,
    current_period_start: start,
    current_period_end: end,
    discount: null,
    items: { ...kept.items, data },
  };
}

function oldInvoice(payments: Payments, { parent, ...invoice }: Invoice): object {
  const { subscription, metadata } = parent.subscription_details;
  const data = invoice.lines.data.map((line) => oldLine(payments, line));
  return {
    ...invoice,
    charge: null,
    discount: null,
    lines: { ...invoice.lines, data },
    paid: invoice.status === "paid",
    payment_intent: intentOf(payments, invoice.id)?.id ?? null,
    subscription,
    subscription_details: { metadata },
    tax: null,
  };
}

function oldLine(payments: Payments, { parent, pricing, ...line }: InvoiceLine): object {
  return {
    ...line,
    ...parent.subscription_item_details,
    price: must(payments.prices, pricing.price_details.price),
    type: "subscription",
  };
}
