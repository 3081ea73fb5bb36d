import { z } from "zod";
import { planIds } from "./plans.ts";

const planId = z.enum(planIds);
const time = z.iso.datetime();
const status = z.enum(["trialing", "active", "canceled", "past_due", "unpaid"]);

export const planBody = z.strictObject({ planId });
export const sessionBody = z.strictObject({
  sessionId: z.string().regex(/^cs_[A-Za-z0-9_]{1,250}$/, "must be the id of a checkout session"),
});

export const checkoutAnswer = z.object({ sessionId: z.string(), url: z.url() });

const pendingPlan = z.object({
  priceId: z.string(),
  planId,
  creditsPerPeriod: z.int().nullable(),
  appliesAt: time,
});

export const subscriptionAnswer = z.object({
  status,
  planId,
  currentPeriodEnd: time,
  trialEnd: time.nullable(),
});

export const subscriptionView = subscriptionAnswer.extend({
  currentPeriodStart: time,
  cancelAtPeriodEnd: z.boolean(),
  pendingPlan: pendingPlan.nullable(),
});

export const changeAnswer = z.object({
  status,
  planId,
  pendingPlan: pendingPlan.nullable(),
  requiresAction: z.boolean(),
  paymentIntentClientSecret: z.string().optional(),
});

export const portalAnswer = z.object({ url: z.url() });

export const noticesAnswer = z.object({
  notices: z.array(
    z.object({
      id: z.string(),
      kind: z.enum([
        "trial_will_end",
        "payment_failed",
        "credits_low",
        "double_subscription_ended",
      ]),
      details: z.record(z.string(), z.unknown()),
      createdAt: time,
      readAt: time.nullable(),
    }),
  ),
});
export const noticeParams = z.object({ id: z.string().regex(/^\d{1,18}$/) });
export const readAnswer = z.object({ read: z.literal(true) });
