import type { Frame, Service } from "../service.ts";
import { apiOf, unknownRoutes } from "./api.ts";
import { catalogRoutes, seedCatalog } from "./catalog.ts";
import { checkoutPage } from "./checkout-page.ts";
import { checkoutRoutes } from "./checkout.ts";
import { confirmPage } from "./confirm-page.ts";
import { controlRoutes } from "./control.ts";
import { customerRoutes } from "./customers.ts";
import { eventRoutes } from "./event-routes.ts";
import { invoiceRoutes } from "./invoice-routes.ts";
import { portalPage } from "./portal-page.ts";
import { portalRoutes } from "./portal.ts";
import { stateOf } from "./state.ts";
import type { Payments } from "./state.ts";
import { subscriptionRoutes } from "./subscription-routes.ts";
import { catchUp } from "./timeline.ts";
import { senderOf } from "./webhooks.ts";

/**
 * Stripe for subscriptions: `/payments/v1/...` and, for the official client that knows only a host, `/v1/...`.
 * The secret key is `sk_test_sandbox`, the webhook secret `whsec_sandbox`, the prices `price_starter` and `price_pro`.
 *
 *     checkout   /payments/checkout/{session}      -d decision=pay -d card=4242424242424242 [-d email=a@b.c]
 *     confirm    /payments/confirm/{client secret} -d decision=approve   (or decline; or pay -d card=...)
 *     portal     /payments/portal/{session}        -d decision=cancel -d subscription=sub_...   (undo; plan -d price=...; card -d card=...)
 *     settings   /payments/_control                {"endpoint": "http://127.0.0.1:3000/functions/paymentWebhook"}
 *     told       /payments/_control/deliveries     {"pending": 0, "delivered": 7, "failed": 0}
 *     again      /payments/_control/resend         {"event": "evt_..."}
 *     a price    /payments/_control/prices/{id}    {"metadata": {"credits_per_period": "10"}}
 *
 * A checkout that is paid answers 303 to its `success_url`; a card that asks first gets the same form with
 * `decision=approve`. The cards are in cards.ts. Time is the sandbox's: move it at `/_sandbox/clock`, and trials end,
 * periods renew and retries run in their order. A renewal is charged an hour after it is made, as at Stripe.
 */
const main: Service = {
  name: "payments",
  basePath: "/payments",
  routes(frame) {
    const payments = stateOf(frame);
    seedCatalog(payments);
    apiRoutes(frame, payments, "/v1");
    checkoutPage(frame, payments);
    confirmPage(frame, payments);
    portalPage(frame, payments);
    controlRoutes(frame, payments);
    keepTime(frame, payments);
  },
};

/** The same API at the root. The name makes it share what is remembered. */
const atRoot: Service = {
  name: "payments",
  basePath: "/v1",
  routes: (frame) => apiRoutes(frame, stateOf(frame), ""),
};

export const payments: readonly Service[] = [main, atRoot];

function apiRoutes(frame: Frame, payments: Payments, prefix: string): void {
  const api = apiOf(frame, payments, prefix);
  catalogRoutes(api, payments);
  customerRoutes(api, payments);
  checkoutRoutes(api, payments);
  subscriptionRoutes(api, payments);
  invoiceRoutes(api, payments);
  portalRoutes(api, payments);
  eventRoutes(api, payments);
  unknownRoutes(frame, prefix);
}

const heartbeatMs = 25;

/** Time passes, and events go out, also while nobody calls. */
function keepTime({ app, note }: Frame, payments: Payments): void {
  const sender = senderOf(payments);
  let saving = Promise.resolve();
  const beat = (): void => {
    const done = catchUp(payments);
    if (done.length > 0) saving = note("payments.clock", done.join(", "));
    sender.pump();
  };
  let timer: NodeJS.Timeout | undefined;
  app.addHook("onListen", () => {
    const address = app.server.address();
    if (typeof address === "object" && address)
      payments.origin = `http://127.0.0.1:${address.port}`;
    timer = setInterval(beat, heartbeatMs);
  });
  app.addHook("onClose", async () => {
    clearInterval(timer);
    await Promise.all([saving, sender.close()]);
  });
}
