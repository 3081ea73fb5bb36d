import { collect } from "./collecting.ts";
import { endSubscription } from "./ending.ts";
import { changeSubscription, emit } from "./events.ts";
import { voidInvoice } from "./intents.ts";
import { finalize } from "./invoices.ts";
import { during } from "./state.ts";
import type { Payments } from "./state.ts";
import type { CheckoutSession } from "./session-shapes.ts";
import type { Invoice, Subscription } from "./shapes.ts";
import { periodOf, renew } from "./subscriptions.ts";

interface Due {
  at: number;
  what: string;
  act: () => void;
}

const warningSeconds = 3 * 24 * 60 * 60;
const live = new Set(["trialing", "active", "past_due", "unpaid"]);

/** Everything that time brings up to now, in its order and at its own moment. Says what it did. */
export function catchUp(payments: Payments): string[] {
  const now = payments.now();
  const done: string[] = [];
  for (let due = earliest(payments, now); due; due = earliest(payments, now)) {
    during(payments, { moment: due.at }, due.act);
    done.push(due.what);
  }
  return done;
}

/** Of two things due at once the one listed first comes first: an end before the renewal it prevents. */
function earliest(payments: Payments, now: number): Due | undefined {
  const all = [
    ...Array.from(payments.sessions.values()).flatMap((each) => sessionDues(payments, each)),
    ...Array.from(payments.invoices.values()).flatMap((each) => invoiceDues(payments, each)),
    ...Array.from(payments.subscriptions.values()).flatMap((each) =>
      subscriptionDues(payments, each),
    ),
  ];
  return all.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)[0];
}

function sessionDues(payments: Payments, session: CheckoutSession): Due[] {
  if (session.status !== "open") return [];
  const act = (): void => void expireSession(payments, session);
  return [{ at: session.expires_at, what: `${session.id} expired`, act }];
}

export function expireSession(payments: Payments, session: CheckoutSession): CheckoutSession {
  const expired = { ...session, status: "expired" as const, url: null };
  payments.sessions.set(session.id, expired);
  emit(payments, "checkout.session.expired", expired);
  return expired;
}

function invoiceDues(payments: Payments, invoice: Invoice): Due[] {
  const { id, status, automatically_finalizes_at: finalAt, next_payment_attempt: tryAt } = invoice;
  if (status === "draft" && finalAt !== null) {
    const act = (): void => {
      finalize(payments, id);
      collect(payments, id);
    };
    return [{ at: finalAt, what: `${id} finalized`, act }];
  }
  if (status !== "open" || tryAt === null) return [];
  return [{ at: tryAt, what: `${id} tried again`, act: () => void collect(payments, id) }];
}

function subscriptionDues(payments: Payments, subscription: Subscription): Due[] {
  const { id, status, trial_end: trialEnd, cancel_at: cancelAt, pending_update } = subscription;
  if (!live.has(status)) return [];
  const dues: Due[] = [];
  if (status === "trialing" && trialEnd !== null && !isWarned(payments, subscription)) {
    const at = Math.max(subscription.created, trialEnd - warningSeconds);
    dues.push({ at, what: `${id} warned`, act: () => warn(payments, subscription) });
  }
  if (pending_update) {
    const act = (): void => expirePending(payments, subscription);
    dues.push({ at: pending_update.expires_at, what: `${id} kept its plan`, act });
  }
  if (cancelAt !== null) {
    const act = (): void => void endSubscription(payments, subscription, "cancellation_requested");
    dues.push({ at: cancelAt, what: `${id} ended`, act });
  }
  const { end } = periodOf(subscription);
  dues.push({ at: end, what: `${id} renewed`, act: () => renew(payments, subscription) });
  return dues;
}

function isWarned({ warned }: Payments, { id, trial_end }: Subscription): boolean {
  return warned.get(id)?.trialEnd === trial_end;
}

/** At once when the trial is short or ends early. */
export function warn(payments: Payments, subscription: Subscription): void {
  const { id, trial_end: trialEnd } = subscription;
  if (trialEnd === null) return;
  payments.warned.set(id, { trialEnd });
  emit(payments, "customer.subscription.trial_will_end", subscription);
}

/** The change that nobody paid for is dropped, with its invoice. */
export function expirePending(payments: Payments, { id, latest_invoice }: Subscription): void {
  const invoice = payments.invoices.get(latest_invoice ?? "");
  if (invoice?.status === "open") voidInvoice(payments, invoice);
  const kept = changeSubscription(payments, id, { pending_update: null });
  emit(payments, "customer.subscription.pending_update_expired", kept);
}
