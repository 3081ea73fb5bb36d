import { changeInvoice, emit } from "./events.ts";
import { must } from "./state.ts";
import type { Payments } from "./state.ts";
import type { Invoice, InvoicePayment, PaymentIntent } from "./shapes.ts";

export function paymentOf(payments: Payments, invoiceId: string): InvoicePayment | undefined {
  return Array.from(payments.invoicePayments.values()).find(({ invoice }) => invoice === invoiceId);
}

export function intentOf(payments: Payments, invoiceId: string): PaymentIntent | undefined {
  const payment = paymentOf(payments, invoiceId);
  return payment && payments.intents.get(payment.payment.payment_intent);
}

export function invoiceOf(payments: Payments, intentId: string): Invoice {
  const payment = Array.from(payments.invoicePayments.values()).find(
    ({ payment }) => payment.payment_intent === intentId,
  );
  return must(payments.invoices, payment?.invoice ?? intentId);
}

const told: Partial<Record<PaymentIntent["status"], string>> = {
  succeeded: "payment_intent.succeeded",
  requires_action: "payment_intent.requires_action",
  requires_payment_method: "payment_intent.payment_failed",
  canceled: "payment_intent.canceled",
};

export function setIntent(
  payments: Payments,
  invoiceId: string,
  changes: Partial<PaymentIntent>,
): void {
  const before = intentOf(payments, invoiceId);
  if (!before) return;
  const intent = { ...before, ...changes };
  if (intent.status === "succeeded") {
    Object.assign(intent, { amount_received: intent.amount, next_action: null });
    intent.last_payment_error = null;
  }
  payments.intents.set(intent.id, intent);
  const type = told[intent.status];
  if (type !== undefined) emit(payments, type, intent);
}

/** Nobody will pay this any more. */
export function voidInvoice(payments: Payments, { id, status_transitions }: Invoice): void {
  const voided = changeInvoice(payments, id, {
    status: "void",
    next_payment_attempt: null,
    automatically_finalizes_at: null,
    status_transitions: { ...status_transitions, voided_at: payments.now() },
  });
  const payment = paymentOf(payments, id);
  if (payment) payments.invoicePayments.set(payment.id, { ...payment, status: "canceled" });
  setIntent(payments, id, { status: "canceled", next_action: null });
  emit(payments, "invoice.voided", voided);
}
