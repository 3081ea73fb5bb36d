import { changeInvoice, emit } from "./events.ts";
import { settingsOf } from "./settings.ts";
import { must, newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { BillingReason, Customer, Invoice, InvoiceLine, Subscription } from "./shapes.ts";

interface Bill {
  reason: BillingReason;
  lines: InvoiceLine[];
  /** What an invoice's own period describes: on a renewal, the one that ended. */
  period: { start: number; end: number };
}

/** An invoice that nobody stored yet: what a preview shows, too. */
export function billOf(
  payments: Payments,
  subscription: Subscription,
  { reason, lines, period }: Bill,
  id = newId("in"),
): Invoice {
  const customer = must(payments.customers, subscription.customer);
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  const due = amountDue(customer, total);
  return {
    id,
    object: "invoice",
    amount_due: due,
    amount_paid: 0,
    amount_remaining: due,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatically_finalizes_at: null,
    billing_reason: reason,
    collection_method: "charge_automatically",
    created: payments.now(),
    currency: subscription.currency,
    customer: customer.id,
    customer_email: customer.email,
    customer_name: customer.name,
    ending_balance: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    last_finalization_error: null,
    lines: {
      object: "list",
      data: lines.map((line) => ({ ...line, invoice: id })),
      has_more: false,
      url: `/v1/invoices/${id}/lines`,
    },
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: null,
    parent: {
      type: "subscription_details",
      quote_details: null,
      subscription_details: {
        metadata: subscription.metadata,
        subscription: subscription.id,
      },
    },
    period_start: period.start,
    period_end: period.end,
    starting_balance: customer.balance,
    status: "draft",
    status_transitions: {
      finalized_at: null,
      marked_uncollectible_at: null,
      paid_at: null,
      voided_at: null,
    },
    subtotal: total,
    total,
  };
}

/** Credit pays first, and a total below zero becomes credit. */
export function amountDue({ balance }: Customer, total: number): number {
  return Math.max(0, total + balance);
}

/** Takes along the prorations that waited for it. */
export function draftInvoice(payments: Payments, subscription: Subscription, bill: Bill): Invoice {
  const waiting = payments.waitingLines.get(subscription.id) ?? [];
  payments.waitingLines.delete(subscription.id);
  const lines = [...waiting, ...bill.lines];
  const invoice = billOf(payments, subscription, { ...bill, lines });
  payments.invoices.set(invoice.id, invoice);
  emit(payments, "invoice.created", invoice);
  return invoice;
}

/** A renewal's invoice can be edited for a while before it is final. */
export function finalizeLater(payments: Payments, { id }: Invoice): void {
  const at = payments.now() + settingsOf(payments).finalizeAfterSeconds;
  changeInvoice(payments, id, { automatically_finalizes_at: at, next_payment_attempt: at });
}

/** From here on the amount stands, and a payment intent waits for it. */
export function finalize(payments: Payments, id: string): Invoice {
  const draft = must(payments.invoices, id);
  const customer = must(payments.customers, draft.customer);
  const due = amountDue(customer, draft.total);
  const balance = Math.min(0, draft.total + customer.balance);
  if (balance !== customer.balance) payments.customers.set(customer.id, { ...customer, balance });
  const intentId = newId("pi");
  const secret = `${intentId}_secret_${newId("x").slice(2)}`;
  const address = `${payments.origin}/payments/confirm/${secret}`;
  const invoice = changeInvoice(payments, id, {
    amount_due: due,
    amount_remaining: due,
    automatically_finalizes_at: null,
    ending_balance: balance,
    hosted_invoice_url: due > 0 ? address : null,
    next_payment_attempt: null,
    number: nextNumber(payments),
    starting_balance: customer.balance,
    status: "open",
    status_transitions: { ...draft.status_transitions, finalized_at: payments.now() },
  });
  emit(payments, "invoice.finalized", invoice);
  if (due > 0) addIntent(payments, invoice, intentId, secret);
  return invoice;
}

function nextNumber({ invoices }: Payments): string {
  const numbered = Array.from(invoices.values()).filter(({ number }) => number !== null);
  return `SANDBOX-${String(numbered.length + 1).padStart(4, "0")}`;
}

function addIntent(payments: Payments, invoice: Invoice, id: string, secret: string): void {
  const { amount_due: amount, currency, customer } = invoice;
  const created = payments.now();
  payments.intents.set(id, {
    id,
    object: "payment_intent",
    amount,
    amount_received: 0,
    client_secret: secret,
    created,
    currency,
    customer,
    last_payment_error: null,
    livemode: false,
    metadata: {},
    next_action: null,
    payment_method: null,
    status: "requires_confirmation",
  });
  const payment = newId("inpay");
  payments.invoicePayments.set(payment, {
    id: payment,
    object: "invoice_payment",
    amount_paid: null,
    amount_requested: amount,
    created,
    currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { type: "payment_intent", payment_intent: id },
    status: "open",
  });
}
