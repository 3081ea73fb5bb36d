import type { Answer } from "../answer.ts";
import type { Call } from "../call.ts";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import type { Decision, Frame } from "../service.ts";
import { replaceCard, rulesOf } from "./cards.ts";
import { changeSubscription } from "./events.ts";
import {
  alert,
  cardField,
  dateOf,
  dollars,
  notFound,
  onPage,
  paymentPage,
  sendTo,
} from "./layout.ts";
import { changePlan } from "./plan-change.ts";
import { Refusal, invalidRequest } from "./refusals.ts";
import type { Payments } from "./state.ts";
import type { PortalSession } from "./session-shapes.ts";
import type { Subscription } from "./shapes.ts";
import { leave, stay } from "./subscription-routes.ts";
import { periodOf } from "./subscriptions.ts";

/** A portal link does not live long: one is made per click. */
const lifeSeconds = 60 * 60;

/** `/portal/{session}`: what a customer may change alone. */
export function portalPage({ app, read, operation }: Frame, payments: Payments): void {
  const path = "/portal/:id";
  const withPortal = (act: (portal: PortalSession, call: Call) => Answer & Partial<Decision>) =>
    onPage(payments, (call) => {
      const portal = payments.portals.get(call.params["id"] ?? "");
      const isOpen = portal && payments.now() < portal.created + lifeSeconds;
      return isOpen ? act(portal, call) : notFound("portal session");
    });
  app.get(
    path,
    read(
      "payments.portal.page",
      withPortal((portal) => show(payments, portal)),
    ),
  );
  app.post(
    path,
    operation(
      "payments.portal.decide",
      withPortal((portal, call) => decide(payments, portal, call)),
    ),
  );
}

function decide(payments: Payments, portal: PortalSession, call: Call): Answer & Partial<Decision> {
  try {
    change(payments, portal, call.form());
  } catch (error) {
    if (error instanceof Refusal) return show(payments, portal, error);
    throw error;
  }
  return {
    ...sendTo(`${call.baseUrl}/portal/${portal.id}`),
    accepted: true,
    remoteId: portal.customer,
  };
}

function change(payments: Payments, portal: PortalSession, form: URLSearchParams): void {
  const decision = form.get("decision");
  if (decision === "card") {
    const card = form.get("card") ?? "";
    const { onAttach } = rulesOf(card);
    // Whoever types a card here confirms it too.
    if (typeof onAttach === "object") throw new Refusal(402, onAttach);
    replaceCard(payments, portal.customer, card);
    return;
  }
  const subscription = subscriptionsOf(payments, portal).find(
    ({ id }) => id === form.get("subscription"),
  );
  if (!subscription) throw invalidRequest("There is no such subscription.");
  const { id } = subscription;
  if (decision === "cancel") {
    const { end } = periodOf(subscription);
    changeSubscription(payments, id, leave(subscription, end, payments.now()));
  } else if (decision === "undo") {
    changeSubscription(payments, id, stay(subscription));
  } else if (decision === "plan") {
    const item = subscription.items.data[0]?.id;
    const items = [{ id: item, price: form.get("price") ?? "" }];
    changePlan(payments, id, {
      items,
      proration_behavior: "always_invoice",
      payment_behavior: "error_if_incomplete",
    });
  } else throw invalidRequest("Choose what to do.");
}

function subscriptionsOf({ subscriptions }: Payments, { customer }: PortalSession): Subscription[] {
  return Array.from(subscriptions.values()).filter(
    (each) => each.customer === customer && each.status !== "canceled",
  );
}

function show(payments: Payments, portal: PortalSession, problem?: Refusal): Answer {
  const invoices = Array.from(payments.invoices.values()).filter(
    ({ customer }) => customer === portal.customer,
  );
  const { return_url: back } = portal;
  return paymentPage(
    problem?.status ?? 200,
    "Your subscription",
    html`${alert(problem?.message)} ${back === null ? "" : html`<a href="${back}">Return</a>`}
      ${subscriptionsOf(payments, portal).map((each) => subscriptionForm(payments, each))}
      <form method="post">
        <h2>Card</h2>
        ${cardField()}
        <button name="decision" value="card">Use this card</button>
      </form>
      <section>
        <h2>Invoices</h2>
        <ul>
          ${invoices
            .toReversed()
            .map(
              (invoice) =>
                html`<li>
                  ${dateOf(invoice.created)} ${dollars(invoice.total)} ${invoice.status}
                  ${
                    invoice.hosted_invoice_url === null
                      ? ""
                      : html`<a href="${invoice.hosted_invoice_url}"
                          >${invoice.number ?? invoice.id}</a
                        >`
                  }
                </li>`,
            )}
        </ul>
      </section>`,
  );
}

function subscriptionForm(payments: Payments, subscription: Subscription): Html {
  const { id, items, status, cancel_at: cancelAt } = subscription;
  const [item] = items.data;
  const isCurrent = (price: string): Html | "" => (price === item?.price.id ? html`selected` : "");
  const { end } = periodOf(subscription);
  return html`<form method="post">
    <h2>${item?.price.nickname ?? item?.price.id ?? ""}</h2>
    <p>${status}, ${cancelAt === null ? `renews ${dateOf(end)}` : `ends ${dateOf(cancelAt)}`}</p>
    <input type="hidden" name="subscription" value="${id}" />
    <label>
      Plan
      <select name="price">
        ${Array.from(payments.prices.values()).map(
          (price) =>
            html`<option value="${price.id}" ${isCurrent(price.id)}>
              ${price.nickname ?? price.id}, ${dollars(price.unit_amount)} a month
            </option>`,
        )}
      </select>
    </label>
    <button name="decision" value="plan" class="main">Change plan</button>
    ${
      cancelAt === null
        ? html`<button name="decision" value="cancel">Cancel at the end of the period</button>`
        : html`<button name="decision" value="undo">Do not cancel</button>`
    }
  </form>`;
}
