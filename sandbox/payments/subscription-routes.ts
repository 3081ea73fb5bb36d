import { z } from "zod";
import type { Api } from "./api.ts";
import { endSubscription } from "./ending.ts";
import { changeSubscription } from "./events.ts";
import { flag, mergeMetadata, metadata, whole } from "./form.ts";
import { listOf, listShape, nothing } from "./lists.ts";
import { changePlan } from "./plan-change.ts";
import { find, invalidRequest } from "./refusals.ts";
import type { Payments } from "./state.ts";
import type { Subscription } from "./shapes.ts";
import { periodOf } from "./subscriptions.ts";

const details = z.strictObject({ comment: z.string(), feedback: z.string() }).partial().optional();

export const itemChanges = z.array(
  z.strictObject({
    id: z.string().optional(),
    price: z.string().optional(),
    quantity: whole.optional(),
    deleted: flag.optional(),
  }),
);
export const prorationBehavior = z.enum(["create_prorations", "always_invoice", "none"]);

const planShape = {
  items: itemChanges.optional(),
  proration_behavior: prorationBehavior.optional(),
  proration_date: whole.optional(),
  billing_cycle_anchor: z.enum(["now", "unchanged"]).optional(),
  trial_end: z.literal("now").optional(),
  payment_behavior: z
    .enum([
      "allow_incomplete",
      "default_incomplete",
      "error_if_incomplete",
      "pending_if_incomplete",
    ])
    .optional(),
};
const restShape = {
  cancel_at: z.union([z.enum(["", "min_period_end", "max_period_end"]), whole]).optional(),
  cancel_at_period_end: flag.optional(),
  cancellation_details: details,
  default_payment_method: z.string().optional(),
  metadata: metadata.optional(),
};
const update = z.strictObject({ ...planShape, ...restShape });
type Update = z.output<typeof update>;

const filters = {
  customer: z.string().optional(),
  price: z.string().optional(),
  status: z
    .enum(["all", "ended", "trialing", "active", "past_due", "unpaid", "canceled", "paused"])
    .optional(),
};

export function subscriptionRoutes(api: Api, payments: Payments): void {
  const { subscriptions } = payments;
  const path = "/subscriptions/:id";
  api.get(
    { path: "/subscriptions", name: "subscriptions.list", shape: listShape.extend(filters) },
    ({ customer, price, status, ...page }) => {
      const isAsked = (actual: Subscription["status"]): boolean => {
        if (status === undefined) return actual !== "canceled";
        return status === "all" || actual === (status === "ended" ? "canceled" : status);
      };
      const matching = Array.from(subscriptions.values()).filter(
        (each) =>
          isAsked(each.status) &&
          (customer === undefined || each.customer === customer) &&
          (price === undefined || each.items.data.some((item) => item.price.id === price)),
      );
      return listOf(page, matching, "/v1/subscriptions");
    },
  );
  api.get({ path, name: "subscriptions.retrieve", shape: nothing }, (_input, id) =>
    find(subscriptions, "subscription", id),
  );
  api.post({ path, name: "subscriptions.update", shape: update }, (input, id) =>
    updateSubscription(payments, find(subscriptions, "subscription", id), input),
  );
  // Unlike Stripe it can settle no accounts at the end: only the plain form is taken.
  const no = z.literal("false").optional();
  const cancel = z.strictObject({ cancellation_details: details, invoice_now: no, prorate: no });
  api.delete({ path, name: "subscriptions.cancel", shape: cancel }, (input, id) => {
    const subscription = find(subscriptions, "subscription", id);
    if (subscription.status === "canceled") throw ended(id);
    const cancellation_details = {
      ...subscription.cancellation_details,
      ...input.cancellation_details,
    };
    const reason = "cancellation_requested";
    return endSubscription(payments, { ...subscription, cancellation_details }, reason);
  });
}

function ended(id: string): Error {
  const message = `No such subscription: ${id}`;
  return invalidRequest(message, { code: "resource_missing", param: "id" });
}

function updateSubscription(
  payments: Payments,
  subscription: Subscription,
  input: Update,
): Subscription {
  const { id, status } = subscription;
  if (status === "canceled") {
    const message =
      "A canceled subscription can only update its cancellation_details and metadata.";
    throw invalidRequest(message);
  }
  if (input.payment_behavior === "pending_if_incomplete") {
    const [extra] = Object.keys(restShape).filter((key) => key in input);
    if (extra !== undefined) {
      const message = `You cannot set \`${extra}\` when \`payment_behavior\` is \`pending_if_incomplete\`.`;
      throw invalidRequest(message, { param: extra });
    }
  }
  if (input.default_payment_method !== undefined) {
    find(
      payments.methods,
      "payment_method",
      input.default_payment_method,
      "default_payment_method",
    );
  }
  const rest = restOf(payments, subscription, input);
  const changesPlan = ["items", "billing_cycle_anchor", "trial_end"].some((key) => key in input);
  if (changesPlan) changePlan(payments, id, input);
  return changeSubscription(payments, id, rest);
}

function restOf(payments: Payments, old: Subscription, input: Update): Partial<Subscription> {
  return {
    ...cancellation(payments, old, input),
    ...(input.cancellation_details && {
      cancellation_details: { ...old.cancellation_details, ...input.cancellation_details },
    }),
    ...(input.default_payment_method !== undefined && {
      default_payment_method: input.default_payment_method,
    }),
    metadata: mergeMetadata(old.metadata, input.metadata),
  };
}

function cancellation(
  { now }: Payments,
  old: Subscription,
  { cancel_at: at, cancel_at_period_end: atPeriodEnd }: Update,
): Partial<Subscription> {
  if (at === undefined && atPeriodEnd === undefined) return {};
  if (at !== undefined && atPeriodEnd !== undefined) {
    throw invalidRequest("You may only specify one of cancel_at and cancel_at_period_end.");
  }
  if (at === "" || atPeriodEnd === false) return stay(old);
  const time = typeof at === "number" ? at : periodOf(old).end;
  if (time <= now())
    throw invalidRequest("Cancel at must be in the future.", { param: "cancel_at" });
  return { ...leave(old, time, now()), cancel_at_period_end: atPeriodEnd ?? false };
}

export function leave(old: Subscription, at: number, now: number): Partial<Subscription> {
  return {
    cancel_at: at,
    canceled_at: now,
    cancellation_details: { ...old.cancellation_details, reason: "cancellation_requested" },
  };
}

export function stay(old: Subscription): Partial<Subscription> {
  return {
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { ...old.cancellation_details, reason: null },
  };
}
