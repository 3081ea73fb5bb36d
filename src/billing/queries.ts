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
  /** When it began. */
  startedAt?: Date | null;
}

const columns = `user_id, customer_id, subscription_id, status, plan_id, price_id, current_period_start,
  current_period_end, trial_end, cancel_at_period_end, pending_plan, started_at`;

const replace = columns
  .split(",")
  .map((column) => `${column} = excluded.${column.trim()}`)
  .join(", ");

/** Keeps what is known of a subscription, and makes it the user's if it is the one that counts. */
export async function saveSubscription(db: Db, subscription: Subscription): Promise<void> {
  await db.query({
    name: "save_subscription_state",
    text: `insert into subscription_states (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
           on conflict (subscription_id) do update set ${replace}, updated_at = now()`,
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
  await db.query({
    name: "choose_subscription",
    text: `insert into subscriptions (${columns})
           select ${columns} from subscription_states where user_id = $1
           order by array_position(array['canceled', 'unpaid', 'past_due'], status) desc nulls first,
             started_at desc nulls last, subscription_id desc limit 1
           on conflict (user_id) do update set ${replace}, updated_at = now()`,
    values: [subscription.userId],
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
    text: `with kept as (update subscription_states set pending_plan = $2 where subscription_id = $1)
           update subscriptions set pending_plan = $2, updated_at = now() where subscription_id = $1`,
    values: [subscriptionId, JSON.stringify(pendingPlan)],
  });
}

/** What runs at the provider beside a subscription that admits the user. */
export async function doublesOf(db: Db, userId: string): Promise<string[]> {
  const { rows } = await db.query<{ subscription_id: string }>({
    name: "doubles_of",
    text: `select state.subscription_id from subscriptions chosen
           join subscription_states state on state.user_id = chosen.user_id
           where chosen.user_id = $1 and chosen.status in ('trialing', 'active')
             and state.subscription_id <> chosen.subscription_id and state.status <> 'canceled'`,
    values: [userId],
  });
  return rows.map(({ subscription_id: subscriptionId }) => subscriptionId);
}

export async function endSubscription(db: Db, subscriptionId: string): Promise<void> {
  await db.query({
    name: "end_subscription",
    text: `update subscription_states set status = 'canceled', updated_at = now() where subscription_id = $1`,
    values: [subscriptionId],
  });
}
