import { Stripe } from "stripe";
import type { Logger } from "pino";
import type { Send } from "../outbound/index.ts";
import { createPlans, noPlans } from "./plans.ts";
import type { Plans } from "./plans.ts";

export interface StripeSettings {
  secretKey: string;
  apiUrl: string;
}

const timeoutMs = 20_000;
const maxBytes = 8 * 1_024 * 1_024;
const emptyStatuses = new Set([204, 304]);

/** The SDK's calls leave the process where all others do. */
function fetchThrough(send: Send): typeof fetch {
  return async (address, init) => {
    const { status, headers, body, cutShort } = await send(
      address instanceof Request ? address.url : address.toString(),
      {
        method: init?.method ?? "GET",
        headers: Object.fromEntries(new Headers(init?.headers)),
        ...(typeof init?.body === "string" && { body: init.body }),
        timeoutMs,
        maxBytes,
      },
    );
    if (cutShort) throw cutShort;
    return new Response(emptyStatuses.has(status) ? null : body, { status, headers });
  };
}

/** The version is pinned: what comes back has the shapes that provider-shapes.ts reads. */
function createStripe({ secretKey, apiUrl }: StripeSettings, send: Send): Stripe {
  const { hostname, port, protocol } = new URL(apiUrl);
  return new Stripe(secretKey, {
    apiVersion: "2026-07-29.dahlia",
    host: hostname,
    port: port || (protocol === "https:" ? 443 : 80),
    protocol: protocol === "https:" ? "https" : "http",
    httpClient: Stripe.createFetchHttpClient(fetchThrough(send)),
    maxNetworkRetries: 2,
    telemetry: false,
  });
}

/** What the room needs of the outside. Without a key nothing is sold, and what is asked of the provider is refused. */
export interface Billing {
  stripe: Stripe | null;
  plans: Plans;
  webhookSecrets: readonly string[];
  rollsOver: boolean;
}

export function createBilling(options: {
  stripe: StripeSettings | null;
  webhookSecrets: readonly string[];
  rollsOver: boolean;
  send: Send;
  log: Logger;
}): Billing {
  const { webhookSecrets, rollsOver, send, log } = options;
  const stripe = options.stripe && createStripe(options.stripe, send);
  return { stripe, plans: stripe ? createPlans(stripe, log) : noPlans, webhookSecrets, rollsOver };
}
