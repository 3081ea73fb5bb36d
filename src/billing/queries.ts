import type { Db } from "../db/index.ts";
import type { PlanId } from "./plans.ts";

export interface PendingPlan {
  priceId: string;
  planId: PlanId;
  creditsPerPeriod: number | null;
  appliesAt: string;
}

export interface Subscription {
  userId: string;
  customerId: string;
  subscriptionId: string;
  status: "trialing" | "active" | "canceled" | "past_due" | "unpaid";
  planId: PlanId;
  priceId: string;
  currentPeriodStart: Date;
  currentPeriodEnd: Date;
  trialEnd: Date | null;
  cancelAtPeriodEnd?: boolean;
  pendingPlan?: PendingPlan | null;
  /** When it was made: of several of one user the youngest counts, and one that runs before one that ended. */
  startedAt?: Date | null;
}

export async function saveSubscription(db: Db, subscription: Subscription): Promise<void> {
  await db.query({
    name: "save_subscription",
    text: `insert into subscriptions as s (user_id, customer_id, subscription_id, status, plan_id, price_id,
             current_period_start, current_period_end, trial_end, cancel_at_period_end, pending_plan, started_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
           on conflict (user_id) do update set customer_id = excluded.customer_id,
             subscription_id = excluded.subscription_id, status = excluded.status, plan_id = excluded.plan_id,
             price_id = excluded.price_id, current_period_start = excluded.current_period_start,
             current_period_end = excluded.current_period_end, trial_end = excluded.trial_end,
             cancel_at_period_end = excluded.cancel_at_period_end, pending_plan = excluded.pending_plan,
             started_at = excluded.started_at, updated_at = now()
           where s.subscription_id = excluded.subscription_id
             or (s.status <> 'canceled', coalesce(s.started_at, '-infinity'), s.subscription_id)
              < (excluded.status <> 'canceled', coalesce(excluded.started_at, 'infinity'), excluded.subscription_id)`,
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
      subscription.cancelAtPeriodEnd ?? false,
      subscription.pendingPlan ? JSON.stringify(subscription.pendingPlan) : null,
      subscription.startedAt ?? null,
    ],
  });
}

interface SubscriptionRow {
  user_id: string;
  customer_id: string;
  subscription_id: string;
  status: Subscription["status"];
  plan_id: PlanId;
  price_id: string;
  current_period_start: Date;
  current_period_end: Date;
  trial_end: Date | null;
  cancel_at_period_end: boolean;
  pending_plan: PendingPlan | null;
  started_at: Date | null;
}

export async function findSubscription(db: Db, userId: string): Promise<Subscription | undefined> {
  const { rows } = await db.query<SubscriptionRow>({
    name: "find_subscription",
    text: "select * from subscriptions where user_id = $1",
    values: [userId],
  });
  const [row] = rows;
  return (
    row && {
      userId: row.user_id,
      customerId: row.customer_id,
      subscriptionId: row.subscription_id,
      status: row.status,
      planId: row.plan_id,
      priceId: row.price_id,
      currentPeriodStart: row.current_period_start,
      currentPeriodEnd: row.current_period_end,
      trialEnd: row.trial_end,
      cancelAtPeriodEnd: row.cancel_at_period_end,
      pendingPlan: row.pending_plan,
      startedAt: row.started_at,
    }
  );
}

export async function savePendingPlan(
  db: Db,
  subscriptionId: string,
  pendingPlan: PendingPlan,
): Promise<void> {
  await db.query({
    name: "save_pending_plan",
    text: "update subscriptions set pending_plan = $2, updated_at = now() where subscription_id = $1",
    values: [subscriptionId, JSON.stringify(pendingPlan)],
  });
}
