import { isUtf8 } from "node:buffer";
import type { FastifyPluginAsync } from "fastify";
import { Stripe } from "stripe";
import { z } from "zod";
import { AppError } from "../errors.ts";
import type { ZodTypes } from "../http/index.ts";
import { applyEvent } from "./apply-event.ts";
import type { BillingDeps } from "./apply-event.ts";
import { isKnownType } from "./event-order.ts";
import { subscriptionOf } from "./history.ts";
import { eventShape, subscriptionShape } from "./provider-shapes.ts";
import type { ProviderEvent } from "./provider-shapes.ts";

export interface WebhookDeps extends BillingDeps {
  stripe: Stripe | null;
  /** Several while one is being replaced by another. */
  webhookSecrets: readonly string[];
}

const toleranceSeconds = 300;
const maxBodyBytes = 1_048_576;

const badSignature = (cause?: unknown): AppError =>
  new AppError("validation_error", "The signature does not fit", {
    details: [
      { field: "headers.stripe-signature", message: "does not fit", code: "bad_signature" },
    ],
    cause,
  });

const signaturePart = /^(?:t=(\d{1,12})|v\d+=[0-9A-Za-z]+)$/;

/** The provider's library reads headers generously, and looks at the age only: a time ahead is refused here. */
function checkHeader(header: string): void {
  const parts = header.split(",").map((part) => signaturePart.exec(part.trim()));
  const times = parts.flatMap((part) => (part?.[1] === undefined ? [] : Number(part[1])));
  const [time = Number.NaN] = times;
  const isInTime = Math.abs(time - Date.now() / 1_000) <= toleranceSeconds;
  if (parts.includes(null) || times.length !== 1 || !isInTime) throw badSignature();
}

/** The library signs text. Bytes that only become the signed text by being mended are other bytes. */
const isPlainText = (body: Buffer): boolean =>
  isUtf8(body) && body.readUIntBE(0, Math.min(3, body.length)) !== 0xef_bb_bf;

function verify(
  stripe: Stripe,
  secrets: readonly string[],
  body: Buffer,
  header: unknown,
): unknown {
  if (typeof header !== "string" || body.length === 0 || !isPlainText(body)) throw badSignature();
  checkHeader(header);
  let failure: unknown;
  for (const secret of secrets) {
    try {
      return stripe.webhooks.constructEvent(body, header, secret, toleranceSeconds);
    } catch (error) {
      failure = error;
    }
  }
  throw badSignature(failure);
}

/** The payment provider's events. Answered with 200 once everything that follows from one is committed. */
export function webhookRoute(deps: WebhookDeps): FastifyPluginAsync {
  const { stripe, webhookSecrets, log } = deps;

  async function take(event: ProviderEvent): Promise<boolean> {
    const { id, type, created: createdAt, data } = event;
    const subscriptionId = isKnownType(type) ? subscriptionOf(type, data.object) : null;
    if (isKnownType(type) && subscriptionId === null)
      log.error({ eventId: id, type }, "an event names no subscription that could be read");
    const isNew = await applyEvent(deps, {
      id,
      type,
      createdAt,
      subscriptionId,
      payload: data.object,
      previous: data.previous_attributes ?? null,
    });
    if (type === "checkout.session.completed" && subscriptionId !== null)
      await completeWith(subscriptionId, id);
    return isNew;
  }

  /** A finished checkout names its subscription, and says nothing about it. */
  async function completeWith(subscriptionId: string, eventId: string): Promise<void> {
    try {
      const payload = await stripe?.subscriptions.retrieve(subscriptionId);
      const createdAt = subscriptionShape.parse(payload).startedAt;
      const type = "checkout.session.verified";
      await applyEvent(deps, {
        id: `fetched:${eventId}`,
        type,
        createdAt,
        subscriptionId,
        payload,
        previous: null,
      });
    } catch (error) {
      const isUnknown = error instanceof Stripe.errors.StripeError && error.statusCode === 404;
      if (!isUnknown) throw error;
      log.warn({ eventId, subscriptionId }, "the provider does not know this subscription");
    }
  }

  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "*",
      { parseAs: "buffer", bodyLimit: maxBodyBytes },
      (_request, body, done) => done(null, body),
    );
    scope.withTypeProvider<ZodTypes>().post(
      "/paymentWebhook",
      {
        config: { isGated: false, errors: ["validation_error", "service_unavailable"] },
        schema: {
          tags: ["Billing"],
          summary: "Events of the payment provider",
          description:
            "Signed by the provider (`Stripe-Signature`); the body is its event, byte for byte.",
          response: { 200: z.object({ received: z.literal(true) }) },
        },
      },
      async (request) => {
        if (!stripe || webhookSecrets.length === 0)
          throw new AppError("service_unavailable", "Billing is not set up here");
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const told = verify(stripe, webhookSecrets, body, request.headers["stripe-signature"]);
        const event = eventShape.safeParse(told);
        if (!event.success)
          throw new AppError("validation_error", "The event can't be read", { cause: event.error });
        const isNew = await take(event.data);
        log.info({ eventId: event.data.id, type: event.data.type, isNew }, "payment event");
        return { received: true } as const;
      },
    );
  };
}
