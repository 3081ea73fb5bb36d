import { isDeepStrictEqual } from "node:util";
import { newId, must } from "./state.ts";
import type { Payments } from "./state.ts";
import type { StripeEvent } from "./session-shapes.ts";
import type { Invoice, Subscription } from "./shapes.ts";
import { settingsOf } from "./settings.ts";

export const apiVersions = { dahlia: "2026-07-29.dahlia", acacia: "2024-09-30.acacia" };

/** Records that something happened, and has it told to the endpoint if there is one. */
export function emit(
  payments: Payments,
  type: string,
  object: object,
  previous?: Record<string, unknown>,
): void {
  const { endpoint, delayMs, apiVersion } = settingsOf(payments);
  const event: StripeEvent = {
    id: newId("evt"),
    object: "event",
    api_version: apiVersions[apiVersion],
    created: payments.now(),
    data: { object, ...(previous && { previous_attributes: previous }) },
    livemode: false,
    pending_webhooks: endpoint === null ? 0 : 1,
    request: payments.scene.request ?? { id: null, idempotency_key: null },
    type,
  };
  payments.events.set(event.id, event);
  if (endpoint !== null) deliver(payments, event.id, delayMs);
}

export function deliver({ deliveries }: Payments, eventId: string, delayMs = 0): void {
  const dueAtMs = Date.now() + delayMs;
  deliveries.set(eventId, { eventId, status: "pending", attempts: 0, dueAtMs });
}

/** The old values of what changed, as events of the kind `updated` carry them. */
export function previousOf(before: object, after: object): Record<string, unknown> {
  const old = new Map(Object.entries(before));
  return Object.fromEntries(
    Object.entries(after)
      .filter(([key, value]) => !isDeepStrictEqual(old.get(key), value))
      .map(([key]) => [key, old.get(key)]),
  );
}

export function changeSubscription(
  payments: Payments,
  id: string,
  changes: Partial<Subscription>,
): Subscription {
  const before = must(payments.subscriptions, id);
  const after = { ...before, ...changes };
  const previous = previousOf(before, after);
  if (Object.keys(previous).length === 0) return before;
  payments.subscriptions.set(id, after);
  emit(payments, "customer.subscription.updated", after, previous);
  return after;
}

/** Stored first, told by the event that says what it means (`invoice.paid`, ...). */
export function changeInvoice(payments: Payments, id: string, changes: Partial<Invoice>): Invoice {
  const after = { ...must(payments.invoices, id), ...changes };
  payments.invoices.set(id, after);
  return after;
}
