import type { Answer } from "../answer.ts";
import type { Call } from "../call.ts";
import { html } from "../html.ts";
import type { Decision, Frame } from "../service.ts";
import { replaceCard, rulesOf } from "./cards.ts";
import type { Outcome } from "./cards.ts";
import { collect } from "./collecting.ts";
import { invoiceOf } from "./intents.ts";
import { alert, cardField, dollars, notFound, onPage, paymentPage, sendTo } from "./layout.ts";
import { must } from "./state.ts";
import type { Payments } from "./state.ts";
import type { CardError, PaymentIntent } from "./shapes.ts";

const refused: CardError = {
  type: "card_error",
  code: "payment_intent_authentication_failure",
  message: "We are unable to authenticate your payment method.",
};

/** `/confirm/{client secret}?return_url=…`: what Stripe.js does in a page, and an invoice's own page. */
export function confirmPage({ app, read, operation }: Frame, payments: Payments): void {
  const path = "/confirm/:secret";
  const withIntent = (act: (intent: PaymentIntent, call: Call) => Answer & Partial<Decision>) =>
    onPage(payments, (call) => {
      const secret = call.params["secret"] ?? "";
      const intent = payments.intents.get(secret.split("_secret_")[0] ?? "");
      return intent?.client_secret === secret ? act(intent, call) : notFound("payment");
    });
  app.get(
    path,
    read(
      "payments.confirm.page",
      withIntent((intent, call) => show(intent, call)),
    ),
  );
  app.post(
    path,
    operation(
      "payments.confirm.decide",
      withIntent((intent, call) => decide(payments, intent, call)),
    ),
  );
}

/** `approve` and `decline` are the owner's word to the bank; `pay` tries another card. */
function decide(payments: Payments, intent: PaymentIntent, call: Call): Answer & Partial<Decision> {
  if (isOver(intent)) return show(intent, call);
  const form = call.form();
  const invoice = invoiceOf(payments, intent.id);
  const outcomes: Record<string, () => Outcome | undefined> = {
    approve: () => (intent.payment_method === null ? undefined : "ok"),
    decline: () => refused,
    pay: () => useCard(payments, intent, form.get("card") ?? ""),
  };
  const outcome = outcomes[form.get("decision") ?? ""];
  if (!outcome) return show(intent, call, 400);
  collect(payments, invoice.id, outcome());
  const after = must(payments.intents, intent.id);
  const facts = { accepted: true, remoteId: intent.id };
  const address = URL.parse(call.query.get("return_url") ?? "");
  if (after.status === "requires_action" || address === null) {
    return { ...show(after, call, after.last_payment_error ? 402 : 200), ...facts };
  }
  address.searchParams.set("payment_intent", intent.id);
  address.searchParams.set("payment_intent_client_secret", intent.client_secret);
  const isPaid = after.status === "succeeded";
  address.searchParams.set("redirect_status", isPaid ? "succeeded" : "failed");
  return { ...sendTo(address.href), ...facts };
}

function useCard(payments: Payments, { customer }: PaymentIntent, card: string): Outcome {
  const { onAttach, onCharge } = rulesOf(card);
  if (typeof onAttach === "object") return onAttach;
  replaceCard(payments, customer, card);
  return onAttach === "authenticate" ? onAttach : onCharge;
}

function isOver({ status }: PaymentIntent): boolean {
  return status === "succeeded" || status === "canceled";
}

function show(intent: PaymentIntent, { query }: Call, status = 200): Answer {
  const { amount, last_payment_error: error } = intent;
  if (isOver(intent)) {
    const back = query.get("return_url");
    const words = intent.status === "succeeded" ? "Paid, thank you" : "No longer to be paid";
    return paymentPage(
      status,
      words,
      html`<section>
        <p>${dollars(amount)}</p>
        ${back !== null && URL.canParse(back) ? html`<a href="${back}">Go back</a>` : ""}
      </section>`,
    );
  }
  const needsCard = intent.status === "requires_payment_method" || intent.payment_method === null;
  const choice = needsCard
    ? html`${cardField()} <button name="decision" value="pay" class="main">Pay</button>`
    : html`<p>Your bank asks you to confirm this payment.</p>
        <button name="decision" value="approve" class="main">Approve</button>
        <button name="decision" value="decline">Decline</button>`;
  return paymentPage(
    status,
    `Pay ${dollars(amount)}`,
    html`${alert(error?.message)}
      <form method="post">${choice}</form>`,
  );
}
