import type { Answer } from "../answer.ts";
import type { Call } from "../call.ts";
import { html } from "../html.ts";
import type { Decision, Frame } from "../service.ts";
import { attachCard, checkoutOutcome } from "./cards.ts";
import { createCustomer } from "./customers.ts";
import { emit } from "./events.ts";
import { alert, cardField, dollars, notFound, onPage, paymentPage, sendTo } from "./layout.ts";
import { must } from "./state.ts";
import type { Payments } from "./state.ts";
import type { CheckoutSession } from "./session-shapes.ts";
import { startSubscription } from "./subscriptions.ts";

/** `/checkout/{session}`: pay with a magic card, confirm it when it asks, or go back. */
export function checkoutPage({ app, read, operation }: Frame, payments: Payments): void {
  const path = "/checkout/:id";
  const withSession = (act: (session: CheckoutSession, call: Call) => Answer & Partial<Decision>) =>
    onPage(payments, (call) => {
      const session = payments.sessions.get(call.params["id"] ?? "");
      if (!session) return notFound("checkout session");
      return session.status === "open" ? act(session, call) : closedPage(session);
    });
  app.get(
    path,
    read(
      "payments.checkout.page",
      withSession((session) => formPage(payments, session)),
    ),
  );
  app.post(
    path,
    operation(
      "payments.checkout.decide",
      withSession((session, call) => decide(payments, session, call.form())),
    ),
  );
}

function decide(
  payments: Payments,
  session: CheckoutSession,
  form: URLSearchParams,
): Answer & Partial<Decision> {
  const card = form.get("card") ?? "";
  switch (form.get("decision")) {
    case "abandon":
      return session.cancel_url === null
        ? formPage(payments, session, "There is nowhere to go back to.")
        : sendTo(session.cancel_url);
    case "decline":
      return formPage(payments, session, "We are unable to authenticate your payment method.");
    case "pay":
    case "approve": {
      const isCardless = card === "" && !needsCard(session);
      const outcome = isCardless ? "ok" : checkoutOutcome(card, session.amount_total);
      const isApproved = outcome === "authenticate" && form.get("decision") === "approve";
      if (outcome === "ok" || isApproved) {
        return complete(payments, session, { card, email: form.get("email") });
      }
      return outcome === "authenticate"
        ? confirmPage(session, card, form.get("email") ?? "")
        : formPage(payments, session, outcome.message);
    }
    default:
      return formPage(payments, session, "Choose what to do.", 400);
  }
}

function needsCard(session: CheckoutSession): boolean {
  return session.payment_method_collection === "always" || session.amount_total > 0;
}

/** Only here do the customer, the subscription and the invoice come into being. */
function complete(
  payments: Payments,
  session: CheckoutSession,
  { card, email }: { card: string; email: string | null },
): Answer & Partial<Decision> {
  const given = session.customer_email ?? (email || undefined);
  const customer =
    session.customer === null
      ? createCustomer(payments, given === undefined ? {} : { email: given })
      : must(payments.customers, session.customer);
  const method = card === "" ? null : attachCard(payments, customer.id, card).id;
  const order = must(payments.orders, session.id);
  const { subscription, invoice } = startSubscription(payments, order, customer.id, method);
  const completed: CheckoutSession = {
    ...session,
    customer: customer.id,
    customer_details: { email: customer.email, name: customer.name },
    invoice: invoice.id,
    payment_status: session.amount_total > 0 ? "paid" : "no_payment_required",
    status: "complete",
    subscription: subscription.id,
    url: null,
  };
  payments.sessions.set(session.id, completed);
  emit(payments, "checkout.session.completed", completed);
  const address = session.success_url.replaceAll("{CHECKOUT_SESSION_ID}", session.id);
  return { ...sendTo(address), accepted: true, remoteId: subscription.id };
}

function formPage(
  payments: Payments,
  session: CheckoutSession,
  problem?: string,
  status = problem === undefined ? 200 : 402,
): Answer {
  const { lineItems, trialDays, trialEnd } = must(payments.orders, session.id);
  const isTrial = trialDays !== null || trialEnd !== null;
  const prices = lineItems.map(({ price, quantity }) => ({
    ...must(payments.prices, price),
    quantity,
  }));
  const email =
    session.customer_email ?? payments.customers.get(session.customer ?? "")?.email ?? undefined;
  return paymentPage(
    status,
    "Subscribe",
    html`${alert(problem)}
      <section>
        ${prices.map(
          (price) =>
            html`<p>
              ${price.quantity} × <b>${price.nickname ?? price.id}</b>,
              ${dollars(price.unit_amount)} a month
            </p>`,
        )}
        <p>
          Due today: <b>${dollars(session.amount_total)}</b>
          ${isTrial ? html`<small>(trial${trialDays === null ? "" : ` of ${trialDays} days`})</small>` : ""}
        </p>
      </section>
      <form method="post">
        <label>
          Email
          <input
            name="email"
            type="email"
            value="${email ?? ""}"
            ${email === undefined ? "" : html`readonly`}
          />
        </label>
        ${cardField()}
        <button name="decision" value="pay" class="main">
          ${isTrial ? "Start trial" : "Subscribe"}
        </button>
        <button name="decision" value="abandon" formnovalidate>Back</button>
      </form>`,
  );
}

function confirmPage(
  { amount_total: amount }: CheckoutSession,
  card: string,
  email: string,
): Answer {
  return paymentPage(
    200,
    "Confirm with your bank",
    html`<form method="post">
      <p>Your bank asks you to confirm this card (${dollars(amount)} today).</p>
      <input type="hidden" name="card" value="${card}" />
      <input type="hidden" name="email" value="${email}" />
      <button name="decision" value="approve" class="main">Approve</button>
      <button name="decision" value="decline">Decline</button>
    </form>`,
  );
}

function closedPage({ status, success_url, cancel_url, id }: CheckoutSession): Answer {
  const isComplete = status === "complete";
  const back = isComplete ? success_url.replaceAll("{CHECKOUT_SESSION_ID}", id) : cancel_url;
  return paymentPage(
    410,
    isComplete ? "You're all done here" : "This page has expired",
    html`<section>
      <p>${isComplete ? "This session was paid already." : "Start again where you came from."}</p>
      ${back === null ? "" : html`<a href="${back}">Go back</a>`}
    </section>`,
  );
}
