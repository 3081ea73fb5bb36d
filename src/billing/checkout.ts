import type { Stripe } from "stripe";
import { AppError } from "../errors.ts";
import { applyEvent } from "./apply-event.ts";
import type { BillingDeps } from "./apply-event.ts";
import { customerOf, finishSession, saveCustomer } from "./event-queries.ts";
import type { PlanId } from "./plans.ts";
import { sessionShape, subscriptionShape } from "./provider-shapes.ts";
import { findSubscription } from "./queries.ts";
import type { Subscription } from "./queries.ts";

export interface CheckoutDeps extends BillingDeps {
  stripe: Stripe;
  urls: { web: string };
}

const trialDays = 7;

async function customerFor({ db, stripe }: CheckoutDeps, userId: string): Promise<string> {
  const known = await customerOf(db, userId);
  if (known) return known;
  const { id } = await stripe.customers.create(
    { metadata: { user_id: userId } },
    { idempotencyKey: `customer:${userId}` },
  );
  return await saveCustomer(db, userId, id);
}

const runs = (subscription: Subscription | undefined): boolean =>
  subscription !== undefined && subscription.status !== "canceled";

/** A page of the provider's where the user pays. The trial is for those who had no subscription before. */
export async function startCheckout(
  deps: CheckoutDeps,
  userId: string,
  planId: PlanId,
  key: string,
): Promise<{ sessionId: string; url: string }> {
  const present = await findSubscription(deps.db, userId);
  if (runs(present))
    throw new AppError(
      "validation_error",
      "There is a subscription already: change its plan instead",
      {
        details: [
          { field: "body.planId", message: "is for new subscriptions", code: "subscribed" },
        ],
      },
    );
  const plan = await deps.plans.byId(planId);
  if (!plan)
    throw new AppError("service_unavailable", `The plan ${planId} is not sold at the moment`);
  const home = `${deps.urls.web}/settings`;
  const { id, url } = await deps.stripe.checkout.sessions.create(
    {
      mode: "subscription",
      line_items: [{ price: plan.priceId, quantity: 1 }],
      customer: await customerFor(deps, userId),
      client_reference_id: userId,
      metadata: { user_id: userId, plan_id: planId },
      subscription_data: {
        metadata: { user_id: userId },
        ...(present ? {} : { trial_period_days: trialDays }),
      },
      success_url: `${home}?session_id={CHECKOUT_SESSION_ID}`,
      cancel_url: home,
    },
    { idempotencyKey: `checkout:${key}` },
  );
  if (!url) throw new AppError("upstream_error", "The payment provider gave no address to pay at");
  return { sessionId: id, url };
}

/** Finishes what the user did at the provider, in case its events are not here yet. Once per session. */
export async function verifySession(
  deps: CheckoutDeps,
  userId: string,
  sessionId: string,
): Promise<Subscription> {
  const answer = await deps.stripe.checkout.sessions.retrieve(sessionId, {
    expand: ["subscription"],
  });
  const session = sessionShape.parse(answer);
  if (session.userId !== userId)
    throw new AppError("forbidden", "This is somebody else's checkout");
  const snapshot = subscriptionShape.safeParse(answer.subscription).data;
  if (!session.isComplete || !snapshot)
    throw new AppError("validation_error", "The checkout is not finished", {
      details: [{ field: "body.sessionId", message: "is not paid", code: "not_complete" }],
    });
  const { subscriptionId, startedAt } = snapshot;
  const event = {
    id: `verified:${sessionId}`,
    type: "checkout.session.verified",
    // As old as can be: whatever the provider tells by itself is newer.
    createdAt: startedAt,
    subscriptionId,
    payload: answer.subscription,
    previous: null,
  };
  await applyEvent(
    deps,
    event,
    async (tx) => await finishSession(tx, { sessionId, userId, subscriptionId }),
  );
  const found = await findSubscription(deps.db, userId);
  if (!found) throw new AppError("upstream_error", "The subscription has a price of no plan");
  return found;
}
