import type { Logger } from "pino";
import { inTransaction } from "../db/index.ts";
import type { Db, Pool } from "../db/index.ts";
import { grantPeriod } from "./credits.ts";
import { endDoublesOf } from "./end-doubles.ts";
import {
  eventsOf,
  insertEvent,
  insertNotice,
  lockPayer,
  lockSubscription,
  userOfCustomer,
} from "./event-queries.ts";
import type { NewEvent } from "./event-queries.ts";
import { readHistory } from "./history.ts";
import type { History } from "./history.ts";
import type { Plan, Plans } from "./plans.ts";
import { saveSubscription } from "./queries.ts";
import type { PendingPlan, Subscription } from "./queries.ts";

export interface BillingDeps {
  db: Pool;
  log: Logger;
  plans: Plans;
  rollsOver: boolean;
}

/** The provider's statuses as the five that there are here. */
const statuses: Record<string, Subscription["status"]> = {
  trialing: "trialing",
  active: "active",
  past_due: "past_due",
  unpaid: "unpaid",
  incomplete: "unpaid",
  paused: "unpaid",
  canceled: "canceled",
  incomplete_expired: "canceled",
};

type Catalog = Awaited<ReturnType<Plans["byPrice"]>>;

/** Read before the transaction: nothing leaves the process inside of one. */
async function catalogFor(plans: Plans, { latest, periods }: History): Promise<Catalog> {
  const priceIds = periods.map(({ priceId }) => priceId);
  return await plans.byPrice(latest ? [latest.priceId, ...priceIds] : priceIds);
}

export function pendingPlan(plan: Plan | undefined, appliesAt: Date): PendingPlan | null {
  if (!plan) return null;
  const { priceId, planId, creditsPerPeriod } = plan;
  return { priceId, planId, creditsPerPeriod, appliesAt: appliesAt.toISOString() };
}

async function write(tx: Db, deps: BillingDeps, history: History, catalog: Catalog): Promise<void> {
  const { latest } = history;
  const customerId = latest?.customerId ?? history.customerId;
  const userId = history.userId ?? (customerId ? await userOfCustomer(tx, customerId) : undefined);
  if (!latest || !customerId || !userId) return;
  await lockPayer(tx, userId);
  const plan = catalog.get(latest.priceId);
  if (plan) {
    await saveSubscription(tx, {
      userId,
      customerId,
      subscriptionId: latest.subscriptionId,
      status: history.hasEnded ? "canceled" : (statuses[latest.status] ?? "unpaid"),
      planId: plan.planId,
      priceId: latest.priceId,
      currentPeriodStart: latest.periodStart,
      currentPeriodEnd: latest.periodEnd,
      trialEnd: latest.trialEnd,
      cancelAtPeriodEnd: latest.cancelAtPeriodEnd,
      pendingPlan: pendingPlan(catalog.get(history.pendingPriceId ?? ""), latest.periodEnd),
      startedAt: latest.startedAt,
    });
  } else deps.log.error({ priceId: latest.priceId }, "a subscription has a price of no plan");
  for (const { start, end, priceId } of history.periods) {
    const credits = catalog.get(priceId)?.creditsPerPeriod;
    if (!credits) deps.log.error({ priceId }, "a period begins whose price grants no credits");
    else {
      const period = { subscriptionId: latest.subscriptionId, periodStart: start, periodEnd: end };
      await grantPeriod(tx, { userId, ...period, credits, rollsOver: deps.rollsOver });
    }
  }
  for (const notice of history.notices) await insertNotice(tx, userId, notice);
  await endDoublesOf(tx, userId);
}

/**
 * Takes in what the provider tells, once per event id, and writes what follows from all that is known by now. False:
 * it was known.
 */
export async function applyEvent(
  deps: BillingDeps,
  event: NewEvent,
  alongside: (tx: Db) => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { subscriptionId } = event;
  const seen = subscriptionId === null ? [] : await eventsOf(deps.db, subscriptionId);
  const catalog = await catalogFor(deps.plans, readHistory([...seen, event]));
  return await inTransaction(deps.db, async (tx) => {
    if (subscriptionId !== null) await lockSubscription(tx, subscriptionId);
    if (!(await alongside(tx))) return false;
    const isNew = await insertEvent(tx, event);
    // Also for one that was told before: its user or its price may be known only now.
    if (subscriptionId !== null)
      await write(tx, deps, readHistory(await eventsOf(tx, subscriptionId)), catalog);
    return isNew;
  });
}
