import { Stripe } from "stripe";
import { z } from "zod";
import type { Db, Pool } from "../db/index.ts";
import { defineTask, enqueue } from "../jobs/index.ts";
import { insertNotice } from "./event-queries.ts";
import { doublesOf, endSubscription } from "./queries.ts";

const payload = z.object({ userId: z.string() });
const ending = { name: "billing.endDoubles", payload } as const;

/** Checkouts that were opened side by side and all paid would be charged for month after month. */
export async function endDoublesOf(tx: Db, userId: string): Promise<void> {
  const doubles = await doublesOf(tx, userId);
  if (doubles.length > 0) await enqueue(tx, ending, { userId }, { jobKey: `doubles:${userId}` });
}

const isGone = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeError && error.code === "resource_missing";

/** Ends at the provider what runs beside the subscription that counts, and tells the user. */
export function endDoublesTask({ db, stripe }: { db: Pool; stripe: Stripe | null }) {
  return defineTask({
    ...ending,
    async run({ userId }, { log }) {
      if (!stripe) throw new Error("billing is not set up here");
      for (const subscriptionId of await doublesOf(db, userId)) {
        try {
          await stripe.subscriptions.cancel(subscriptionId, undefined, {
            idempotencyKey: `double:${subscriptionId}`,
          });
        } catch (error) {
          if (!isGone(error)) throw error;
        }
        await endSubscription(db, subscriptionId);
        await insertNotice(db, userId, {
          kind: "double_subscription_ended",
          key: `double:${subscriptionId}`,
          details: { subscriptionId },
        });
        log.warn({ userId, subscriptionId }, "a second subscription of one user was ended");
      }
    },
  });
}
