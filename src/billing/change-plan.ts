import { AppError } from "../errors.ts";
import { pendingPlan } from "./apply-event.ts";
import type { CheckoutDeps } from "./checkout.ts";
import type { PlanId } from "./plans.ts";
import { subscriptionShape } from "./provider-shapes.ts";
import { findSubscription, savePendingPlan } from "./queries.ts";
import type { PendingPlan, Subscription } from "./queries.ts";

export interface PlanChange {
  status: Subscription["status"];
  planId: PlanId;
  pendingPlan: PendingPlan | null;
  requiresAction: boolean;
  paymentIntentClientSecret?: string;
}

async function runningSubscription(deps: CheckoutDeps, userId: string): Promise<Subscription> {
  const subscription = await findSubscription(deps.db, userId);
  if (subscription && subscription.status !== "canceled") return subscription;
  throw new AppError("validation_error", "There is no subscription to change", {
    details: [{ field: "body.planId", message: "needs a subscription", code: "not_subscribed" }],
  });
}

/**
 * The plan changes at once, its price by the day; the credits change with the next period. A change that the bank wants
 * the user to confirm first is pending until they have.
 */
export async function changePlan(
  deps: CheckoutDeps,
  userId: string,
  planId: PlanId,
  key: string,
): Promise<PlanChange> {
  const { stripe, plans, db } = deps;
  const present = await runningSubscription(deps, userId);
  if (present.planId === planId)
    throw new AppError("validation_error", `The plan is ${planId} already`, {
      details: [{ field: "body.planId", message: "is the present plan", code: "same_plan" }],
    });
  const plan = await plans.byId(planId);
  if (!plan)
    throw new AppError("service_unavailable", `The plan ${planId} is not sold at the moment`);
  const { subscriptionId } = present;
  const before = subscriptionShape.parse(await stripe.subscriptions.retrieve(subscriptionId));
  const answer = await stripe.subscriptions.update(
    subscriptionId,
    {
      items: [{ id: before.itemId, price: plan.priceId }],
      proration_behavior: "always_invoice",
      payment_behavior: "pending_if_incomplete",
      expand: ["latest_invoice.confirmation_secret"],
    },
    { idempotencyKey: `plan:${key}` },
  );
  const after = subscriptionShape.parse(answer);
  const pending = pendingPlan(plan, after.periodEnd);
  if (pending) await savePendingPlan(db, subscriptionId, pending);
  const requiresAction = after.pendingPriceId !== null;
  const invoice = typeof answer.latest_invoice === "string" ? null : answer.latest_invoice;
  const secret = invoice?.confirmation_secret?.client_secret;
  return {
    status: present.status,
    planId: requiresAction ? present.planId : planId,
    pendingPlan: pending,
    requiresAction,
    ...(requiresAction && secret ? { paymentIntentClientSecret: secret } : {}),
  };
}
