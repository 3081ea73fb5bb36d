import type { Logger } from "pino";
import type { Stripe } from "stripe";

export const planIds = ["starter", "pro"] as const;
export type PlanId = (typeof planIds)[number];

export interface Plan {
  planId: PlanId;
  priceId: string;
  /** Null where the price does not say so in whole, sensible numbers: nothing is granted then. */
  creditsPerPeriod: number | null;
  isSold: boolean;
}

/** The plans as the provider's prices describe them (metadata `plan_id` and `credits_per_period`). */
export interface Plans {
  /** All of them, by price; asked for again where one of those needed is not known yet. */
  byPrice(needed: readonly string[]): Promise<ReadonlyMap<string, Plan>>;
  /** The one that is sold now. */
  byId(planId: PlanId): Promise<Plan | undefined>;
}

const freshMs = 5 * 60_000;
const hurryMs = 10_000;
const maxCredits = 1_000_000;

function creditsOf(text: string | undefined): number | null {
  const credits = /^\d{1,7}$/.test(text ?? "") ? Number(text) : Number.NaN;
  return credits <= maxCredits ? credits : null;
}

function planOf({ id, active, metadata, lookup_key: lookupKey }: Stripe.Price): Plan | [] {
  const planId = planIds.find((known) => known === (metadata["plan_id"] ?? lookupKey));
  if (!planId) return [];
  const creditsPerPeriod = creditsOf(metadata["credits_per_period"]);
  return { planId, priceId: id, creditsPerPeriod, isSold: active };
}

/** Read at most every five minutes, and sooner where a price is asked for that is not known yet. */
export function createPlans(stripe: Stripe, log: Logger, now = () => performance.now()): Plans {
  let known: Promise<Plan[]> | undefined;
  let readAt = 0;

  async function read(): Promise<Plan[]> {
    const plans: Plan[] = [];
    for await (const price of stripe.prices.list({ limit: 100 }))
      plans.push(...[planOf(price)].flat());
    for (const plan of plans)
      if (plan.creditsPerPeriod === null)
        log.error({ priceId: plan.priceId }, "the price says no usable credits_per_period");
    return plans;
  }

  async function plans(maxAgeMs: number): Promise<Plan[]> {
    if (!known || now() - readAt > maxAgeMs) {
      readAt = now();
      known = read();
      // A failure is not kept: the next one asks again.
      known.catch(() => (known = undefined));
    }
    return await known;
  }

  const toMap = (all: Plan[]): ReadonlyMap<string, Plan> =>
    new Map(all.map((plan) => [plan.priceId, plan]));
  return {
    async byPrice(needed) {
      const found = toMap(await plans(freshMs));
      return needed.every((priceId) => found.has(priceId)) ? found : toMap(await plans(hurryMs));
    },
    async byId(planId) {
      const isIt = (plan: Plan): boolean => plan.planId === planId && plan.isSold;
      return (await plans(freshMs)).find(isIt) ?? (await plans(hurryMs)).find(isIt);
    },
  };
}

export const noPlans: Plans = {
  byPrice: async () => await Promise.resolve(new Map()),
  byId: async () => await Promise.resolve(undefined),
};
