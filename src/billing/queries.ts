import type { Db } from "../db/index.ts";

export interface Subscription {
  userId: string;
  customerId: string;
  subscriptionId: string;
  status: "trialing" | "active" | "canceled" | "past_due" | "unpaid";
  planId: "starter" | "pro";
  priceId: string;
  currentPeriodStart: Date;
  currentPeriodEnd: Date;
  trialEnd: Date | null;
}

export async function saveSubscription(db: Db, subscription: Subscription): Promise<void> {
  await db.query({
    name: "save_subscription",
    text: `insert into subscriptions (user_id, customer_id, subscription_id, status, plan_id, price_id,
             current_period_start, current_period_end, trial_end)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (user_id) do update set customer_id = excluded.customer_id,
             subscription_id = excluded.subscription_id, status = excluded.status, plan_id = excluded.plan_id,
             price_id = excluded.price_id, current_period_start = excluded.current_period_start,
             current_period_end = excluded.current_period_end, trial_end = excluded.trial_end, updated_at = now()`,
    values: [
      subscription.userId,
      subscription.customerId,
      subscription.subscriptionId,
      subscription.status,
      subscription.planId,
      subscription.priceId,
      subscription.currentPeriodStart,
      subscription.currentPeriodEnd,
      subscription.trialEnd,
    ],
  });
}
