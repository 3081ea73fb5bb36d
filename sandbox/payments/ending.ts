import { changeInvoice, emit } from "./events.ts";
import type { Payments } from "./state.ts";
import type { Subscription } from "./shapes.ts";

/** The end is final. What is still unpaid stays on record, but nobody collects it any more. */
export function endSubscription(
  payments: Payments,
  subscription: Subscription,
  reason: "cancellation_requested" | "payment_failed",
): Subscription {
  const now = payments.now();
  const ended: Subscription = {
    ...subscription,
    status: "canceled",
    canceled_at: subscription.canceled_at ?? now,
    ended_at: now,
    pending_update: null,
    cancellation_details: { ...subscription.cancellation_details, reason },
  };
  payments.subscriptions.set(ended.id, ended);
  for (const { id, status, parent } of payments.invoices.values()) {
    const isOurs = parent.subscription_details.subscription === ended.id;
    if (!isOurs || (status !== "open" && status !== "draft")) continue;
    changeInvoice(payments, id, {
      auto_advance: false,
      automatically_finalizes_at: null,
      next_payment_attempt: null,
    });
  }
  emit(payments, "customer.subscription.deleted", ended);
  return ended;
}
