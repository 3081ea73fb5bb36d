import { chargeOutcome, methodOf } from "./cards.ts";
import type { Outcome } from "./cards.ts";
import { endSubscription } from "./ending.ts";
import { changeInvoice, changeSubscription, emit } from "./events.ts";
import { paymentOf, setIntent } from "./intents.ts";
import { settingsOf } from "./settings.ts";
import { must } from "./state.ts";
import type { Payments } from "./state.ts";
import type { CardError, Invoice, Subscription } from "./shapes.ts";

const day = 24 * 60 * 60;
/** The pauses between the tries of a payment that failed. */
const retryPauses = [3 * day, 5 * day, 7 * day];

/** Charges what is due; `outcome` is what a person at a page made of it, else the saved card decides. */
export function collect(payments: Payments, id: string, outcome?: Outcome): Invoice {
  const invoice = must(payments.invoices, id);
  if (invoice.status !== "open") return invoice;
  if (invoice.amount_due === 0) return settle(payments, invoice);
  const subscription = subscriptionOf(payments, invoice);
  const method = methodOf(payments, subscription);
  const result = outcome ?? chargeOutcome(payments, method);
  const tried = changeInvoice(payments, id, {
    attempted: true,
    attempt_count: invoice.attempt_count + 1,
  });
  if (result === "ok") {
    setIntent(payments, id, { status: "succeeded", payment_method: method });
    return settle(payments, tried);
  }
  return result === "authenticate"
    ? awaitAction(payments, tried, method)
    : fail(payments, tried, result);
}

/** Paid: the subscription is in good standing again, and gets the change that waited for this money. */
function settle(payments: Payments, { id, amount_due, status_transitions }: Invoice): Invoice {
  const paid = changeInvoice(payments, id, {
    amount_paid: amount_due,
    amount_remaining: 0,
    attempted: true,
    next_payment_attempt: null,
    status: "paid",
    status_transitions: { ...status_transitions, paid_at: payments.now() },
  });
  const payment = paymentOf(payments, id);
  if (payment) {
    const changed = { ...payment, status: "paid" as const, amount_paid: amount_due };
    payments.invoicePayments.set(payment.id, changed);
  }
  emit(payments, "invoice.paid", paid);
  emit(payments, "invoice.payment_succeeded", paid);
  const subscription = subscriptionOf(payments, paid);
  if (waitsFor(subscription, paid)) applyPending(payments, subscription);
  else if (
    ["past_due", "unpaid"].includes(subscription.status) &&
    !hasOpenInvoice(payments, paid)
  ) {
    changeSubscription(payments, subscription.id, { status: "active" });
  }
  return paid;
}

function applyPending(payments: Payments, subscription: Subscription): void {
  const { pending_update: pending, items, id } = subscription;
  if (!pending) return;
  const applied = changeSubscription(payments, id, {
    pending_update: null,
    items: { ...items, data: pending.subscription_items },
    billing_cycle_anchor: pending.billing_cycle_anchor ?? subscription.billing_cycle_anchor,
    ...(pending.trial_end !== null && { status: "active", trial_end: pending.trial_end }),
  });
  emit(payments, "customer.subscription.pending_update_applied", applied);
}

function awaitAction(payments: Payments, invoice: Invoice, method: string | null): Invoice {
  setIntent(payments, invoice.id, {
    status: "requires_action",
    payment_method: method,
    next_action: { type: "use_stripe_sdk", use_stripe_sdk: {} },
  });
  emit(payments, "invoice.payment_action_required", invoice);
  return fallBehind(payments, invoice);
}

function fail(payments: Payments, invoice: Invoice, error: CardError): Invoice {
  setIntent(payments, invoice.id, {
    status: "requires_payment_method",
    payment_method: null,
    next_action: null,
    last_payment_error: error,
  });
  const isWaitedFor = waitsFor(subscriptionOf(payments, invoice), invoice);
  const pause = isWaitedFor ? undefined : retryPauses[invoice.attempt_count - 1];
  const failed = changeInvoice(payments, invoice.id, {
    next_payment_attempt: pause === undefined ? null : payments.now() + pause,
  });
  emit(payments, "invoice.payment_failed", failed);
  return fallBehind(payments, failed, pause === undefined);
}

/** A change that waits for money leaves the subscription as it is; any other unpaid invoice puts it in arrears. */
function fallBehind(payments: Payments, invoice: Invoice, isLastTry = false): Invoice {
  const subscription = subscriptionOf(payments, invoice);
  if (waitsFor(subscription, invoice) || subscription.status === "canceled") return invoice;
  const { afterRetries } = settingsOf(payments);
  if (isLastTry && afterRetries === "cancel") {
    endSubscription(payments, subscription, "payment_failed");
  } else {
    const status = isLastTry && afterRetries === "unpaid" ? "unpaid" : "past_due";
    changeSubscription(payments, subscription.id, { status });
  }
  return must(payments.invoices, invoice.id);
}

function subscriptionOf({ subscriptions }: Payments, invoice: Invoice): Subscription {
  return must(subscriptions, invoice.parent.subscription_details.subscription);
}

function waitsFor({ pending_update, latest_invoice }: Subscription, { id }: Invoice): boolean {
  return pending_update !== null && latest_invoice === id;
}

function hasOpenInvoice({ invoices }: Payments, { parent }: Invoice): boolean {
  const { subscription } = parent.subscription_details;
  return Array.from(invoices.values()).some(
    (other) =>
      other.status === "open" && other.parent.subscription_details.subscription === subscription,
  );
}
