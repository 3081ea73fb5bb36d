import { hash } from "node:crypto";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { Stripe } from "stripe";
import { z } from "zod";
import { requireSignedIn } from "../auth/index.ts";
import type { Identity, TokenVerifier } from "../auth/index.ts";
import { AppError } from "../errors.ts";
import { answerOnceLeased, callerOf, idempotencyKeyOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import type { Sealer } from "../sealing.ts";
import { changePlan } from "./change-plan.ts";
import { startCheckout, verifySession } from "./checkout.ts";
import type { CheckoutDeps } from "./checkout.ts";
import { customerOf, listNotices, readNotice } from "./event-queries.ts";
import { findSubscription } from "./queries.ts";
import type { Subscription } from "./queries.ts";
import * as shapes from "./schema.ts";

export interface BillingRouteDeps extends Omit<CheckoutDeps, "stripe"> {
  stripe: Stripe | null;
  sealer: Sealer;
  identity: Identity;
  idTokens: TokenVerifier;
}

const tags = ["Billing"];
const errors = ["upstream_error", "service_unavailable"] as const;
const config = { credential: "idToken", errors } as const;
const prefersJson = /\bapplication\/json\b/;

/** What the provider refused, or did not answer. Its words are for the log, except about the card. */
async function asking<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Stripe.errors.StripeCardError)
      throw new AppError("validation_error", `The payment was declined: ${error.message}`, {
        cause: error,
      });
    if (error instanceof Stripe.errors.StripeError && error.code === "resource_missing")
      throw new AppError("not_found", "The payment provider does not know this", { cause: error });
    if (error instanceof Stripe.errors.StripeError)
      throw new AppError("upstream_error", "The payment provider failed", { cause: error });
    throw error;
  }
}

const toAnswer = ({ status, planId, currentPeriodEnd, trialEnd }: Subscription) => ({
  status,
  planId,
  currentPeriodEnd: currentPeriodEnd.toISOString(),
  trialEnd: trialEnd?.toISOString() ?? null,
});

const keyOf = (request: FastifyRequest, userId: string): string =>
  hash("sha256", `${userId}\0${idempotencyKeyOf(request)}`);

/** The routes of the web app's host around paying. */
export function billingRoutes(deps: BillingRouteDeps): FastifyPluginAsync {
  const { db, urls } = deps;
  const withStripe = (): CheckoutDeps => {
    if (deps.stripe) return { ...deps, stripe: deps.stripe };
    throw new AppError("service_unavailable", "Billing is not set up here");
  };
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();

    app.post(
      "/create-checkout-session",
      {
        config,
        schema: {
          tags,
          summary: "Begin a subscription",
          description:
            "Answers with the address of the provider's page. The first 7 days are free.",
          body: shapes.planBody,
          response: { 200: shapes.checkoutAnswer },
        },
      },
      async (request, reply) => {
        const { userId } = callerOf(request);
        return await answerOnceLeased(deps, request, reply, async () => {
          const { planId } = request.body;
          const body = await asking(
            async () => await startCheckout(withStripe(), userId, planId, keyOf(request, userId)),
          );
          return async () => ({ status: 200, body });
        });
      },
    );

    app.post(
      "/verify-session",
      {
        config: { ...config, errors: [...errors, "forbidden", "not_found"] },
        schema: {
          tags,
          summary: "Finish a checkout",
          body: shapes.sessionBody,
          response: { 200: shapes.subscriptionAnswer },
        },
      },
      async (request) => {
        const { userId } = callerOf(request);
        return toAnswer(
          await asking(
            async () => await verifySession(withStripe(), userId, request.body.sessionId),
          ),
        );
      },
    );

    app.post(
      "/billing/portal",
      {
        config: { errors: [...errors, "unauthorized", "not_found"] },
        schema: {
          tags,
          summary: "To the provider's page for cards, invoices and cancelling",
          description:
            "For the `__session` cookie or an ID token. `Accept: application/json` gets the address instead.",
          response: { 200: shapes.portalAnswer, 303: z.void().describe("To the portal") },
        },
        onRequest: async (request) =>
          void (request.signedIn = await requireSignedIn(deps, request)),
      },
      async (request, reply) => {
        const { userId } = request.signedIn ?? (await requireSignedIn(deps, request));
        const customer = await customerOf(db, userId);
        if (!customer)
          throw new AppError("not_found", "There is nothing to manage: no checkout was begun");
        const { stripe } = withStripe();
        const { url } = await asking(
          async () =>
            await stripe.billingPortal.sessions.create(
              { customer, return_url: `${urls.web}/settings` },
              { idempotencyKey: `portal:${request.id}` },
            ),
        );
        if (prefersJson.test(request.headers.accept ?? "")) return await reply.send({ url });
        return await reply.redirect(url, 303);
      },
    );

    app.post(
      "/billing/change-plan",
      {
        config,
        schema: {
          tags,
          summary: "Change the plan",
          description: "At once; the credits change with the next period.",
          body: shapes.planBody,
          response: { 200: shapes.changeAnswer },
        },
      },
      async (request, reply) => {
        const { userId } = callerOf(request);
        return await answerOnceLeased(deps, request, reply, async () => {
          const { planId } = request.body;
          const body = await asking(
            async () => await changePlan(withStripe(), userId, planId, keyOf(request, userId)),
          );
          return async () => ({ status: 200, body });
        });
      },
    );

    app.get(
      "/billing/subscription",
      {
        config: { ...config, errors: ["not_found"] },
        schema: {
          tags,
          summary: "Your subscription",
          response: { 200: shapes.subscriptionView },
        },
      },
      async (request) => {
        const found = await findSubscription(db, callerOf(request).userId);
        if (!found) throw new AppError("not_found", "There is no subscription");
        return {
          ...toAnswer(found),
          currentPeriodStart: found.currentPeriodStart.toISOString(),
          cancelAtPeriodEnd: found.cancelAtPeriodEnd ?? false,
          pendingPlan: found.pendingPlan ?? null,
        };
      },
    );

    app.get(
      "/notices",
      {
        config: { credential: "idToken" },
        schema: { tags, summary: "What you should know", response: { 200: shapes.noticesAnswer } },
      },
      async (request) => {
        const found = await listNotices(db, callerOf(request).userId);
        const notices = found.map((notice) => ({
          ...notice,
          createdAt: notice.createdAt.toISOString(),
          readAt: notice.readAt?.toISOString() ?? null,
        }));
        return shapes.noticesAnswer.parse({ notices });
      },
    );

    app.post(
      "/notices/:id/read",
      {
        config: { credential: "idToken", errors: ["not_found"] },
        schema: {
          tags,
          summary: "Put a notice away",
          params: shapes.noticeParams,
          response: { 200: shapes.readAnswer },
        },
      },
      async (request) => {
        if (!(await readNotice(db, callerOf(request).userId, request.params.id)))
          throw new AppError("not_found", "There is no such notice");
        return { read: true } as const;
      },
    );
  };
}

declare module "fastify" {
  interface FastifyRequest {
    signedIn: { userId: string } | null;
  }
}
