import { changeSubscription, emit } from "./events.ts";
import { must, newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { CardError, PaymentMethod, Subscription } from "./shapes.ts";

/** What a card does when it is asked: pay, ask its owner first, or decline. */
export type Outcome = "ok" | "authenticate" | CardError;

interface CardRules {
  onAttach: Outcome;
  onCharge: Outcome;
}

const declined = (decline_code: string): CardError => ({
  type: "card_error",
  code: "card_declined",
  decline_code,
  message:
    decline_code === "insufficient_funds"
      ? "Your card has insufficient funds."
      : "Your card was declined.",
});
const expired: CardError = {
  type: "card_error",
  code: "expired_card",
  message: "Your card has expired.",
};

export const noMethod: CardError = {
  type: "card_error",
  code: "missing_payment_method",
  message: "This customer has no attached payment source or default payment method.",
};
export const wrongNumber: CardError = {
  type: "card_error",
  code: "incorrect_number",
  message: "Your card number is incorrect.",
};

const generic = declined("generic_decline");
const poor = declined("insufficient_funds");
export const magicCards: ReadonlyMap<string, CardRules & { label: string }> = new Map([
  ["4242424242424242", { label: "pays", onAttach: "ok", onCharge: "ok" }],
  ["4000000000000002", { label: "is declined", onAttach: generic, onCharge: generic }],
  ["4000000000000341", { label: "is taken, then fails to pay", onAttach: "ok", onCharge: generic }],
  // Once confirmed at checkout it pays on its own; the next one asks every time.
  ["4000002500003155", { label: "is confirmed once", onAttach: "authenticate", onCharge: "ok" }],
  [
    "4000002760003184",
    { label: "is confirmed each time", onAttach: "authenticate", onCharge: "authenticate" },
  ],
  ["4000000000009995", { label: "has no funds", onAttach: poor, onCharge: poor }],
  ["4000000000000069", { label: "has expired", onAttach: expired, onCharge: expired }],
]);

/** A card as it is typed in; unknown numbers are no cards. */
export function rulesOf(typed: string): CardRules {
  return magicCards.get(digits(typed)) ?? { onAttach: wrongNumber, onCharge: wrongNumber };
}

/** A checkout both takes the card and, without a trial, charges it while its owner is there. */
export function checkoutOutcome(typed: string, amount: number): Outcome {
  const { onAttach, onCharge } = rulesOf(typed);
  return onAttach === "ok" && amount > 0 ? onCharge : onAttach;
}

export function attachCard(payments: Payments, customerId: string, typed: string): PaymentMethod {
  const number = digits(typed);
  const method: PaymentMethod = {
    id: newId("pm"),
    object: "payment_method",
    card: { brand: "visa", last4: number.slice(-4), exp_month: 12, exp_year: 2034 },
    created: payments.now(),
    customer: customerId,
    livemode: false,
    type: "card",
  };
  payments.methods.set(method.id, method);
  payments.cards.set(method.id, { number });
  emit(payments, "payment_method.attached", method);
  return method;
}

/** The card that pays from now on, for the customer and for what they have subscribed to. */
export function replaceCard(payments: Payments, customerId: string, typed: string): void {
  const method = attachCard(payments, customerId, typed);
  const customer = must(payments.customers, customerId);
  const changed = { ...customer, invoice_settings: { default_payment_method: method.id } };
  payments.customers.set(customerId, changed);
  const previous = { invoice_settings: customer.invoice_settings };
  emit(payments, "customer.updated", changed, previous);
  for (const { id, customer: owner, status } of payments.subscriptions.values()) {
    if (owner !== customerId || status === "canceled") continue;
    changeSubscription(payments, id, { default_payment_method: method.id });
  }
}

export function methodOf(payments: Payments, subscription: Subscription): string | null {
  const customer = must(payments.customers, subscription.customer);
  return subscription.default_payment_method ?? customer.invoice_settings.default_payment_method;
}

/** What charging a saved payment method would come to. */
export function chargeOutcome({ cards }: Payments, method: string | null): Outcome {
  return method === null ? noMethod : rulesOf(must(cards, method).number).onCharge;
}

function digits(typed: string): string {
  return typed.replace(/[\s-]/g, "");
}
