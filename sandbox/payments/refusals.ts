import type { Collection } from "../store.ts";
import type { CardError } from "./shapes.ts";

interface ErrorFacts {
  type: string;
  message: string;
  code?: string;
  decline_code?: string;
  param?: string;
}

/** Thrown by the check that fails, sent in Stripe's envelope. */
export class Refusal extends Error {
  readonly status: number;
  readonly facts: ErrorFacts;

  constructor(status: number, facts: ErrorFacts) {
    super(facts.message);
    this.status = status;
    this.facts = facts;
  }

  envelope(requestId: string): object {
    const { code } = this.facts;
    const doc = code && {
      doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll("_", "-")}`,
    };
    const log = `https://dashboard.stripe.com/test/logs/${requestId}`;
    return { error: { ...this.facts, ...doc, request_log_url: log } };
  }
}

export function invalidRequest(
  message: string,
  facts: { code?: string; param?: string } = {},
): Refusal {
  return new Refusal(400, { type: "invalid_request_error", message, ...facts });
}

export function missing(what: string, id: string, param = "id"): Refusal {
  const facts = { code: "resource_missing", param };
  const message = `No such ${what}: '${id}'`;
  // A missing subject is 404, a missing object of a parameter 400.
  return new Refusal(param === "id" ? 404 : 400, {
    type: "invalid_request_error",
    message,
    ...facts,
  });
}

/** The object with this id, or the refusal that names the parameter it came in. */
export function find<T>(collection: Collection<T>, what: string, id: string, param?: string): T {
  const found = collection.get(id);
  if (found === undefined) throw missing(what, id, param);
  return found;
}

export function unauthorized(message: string, code?: string): Refusal {
  return new Refusal(401, { type: "invalid_request_error", message, ...(code && { code }) });
}

export function cardRefusal(error: CardError): Refusal {
  return new Refusal(402, error);
}

export function idempotencyRefusal(status: 400 | 409, message: string): Refusal {
  const code = status === 409 ? { code: "idempotency_key_in_use" } : {};
  return new Refusal(status, { type: "idempotency_error", message, ...code });
}
