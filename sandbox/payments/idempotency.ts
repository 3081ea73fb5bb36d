import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "../call.ts";
import { idempotencyRefusal, invalidRequest } from "./refusals.ts";
import { settingsOf } from "./settings.ts";
import type { Payments, Reply } from "./state.ts";

const keptSeconds = 24 * 60 * 60;

export function keyOf({ headers, method }: Call): string | undefined {
  const key = headers["idempotency-key"];
  if (method !== "POST" || typeof key !== "string") return undefined;
  if (key.length > 255)
    throw invalidRequest("Idempotency key cannot be longer than 255 characters.");
  return key;
}

/** What the key's first request was answered. The same key with another request is a mistake. */
export function earlierReply(payments: Payments, key: string, call: Call): Reply | undefined {
  if (payments.busyKeys.has(key)) {
    const message = `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`;
    throw idempotencyRefusal(409, message);
  }
  const reply = payments.replies.get(key);
  if (!reply || payments.now() >= reply.createdAt + keptSeconds) return undefined;
  if (reply.fingerprint !== fingerprintOf(call)) {
    const message = `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`;
    throw idempotencyRefusal(400, message);
  }
  return reply;
}

/** Refusals before anything was begun are not kept: the next request with the key is a first one. */
export function keepReply(
  payments: Payments,
  key: string,
  call: Call,
  reply: Pick<Reply, "status" | "body" | "requestId">,
): void {
  if (reply.status >= 400 && reply.status !== 402) return;
  const fingerprint = fingerprintOf(call);
  payments.replies.set(key, { ...reply, fingerprint, createdAt: payments.now() });
}

/** Does the work with the key taken, from now until Stripe's own slowness is over. */
export async function whileBusy<T>(
  payments: Payments,
  key: string | undefined,
  act: () => T,
): Promise<T> {
  const { processingMs } = settingsOf(payments);
  if (key !== undefined) payments.busyKeys.add(key);
  try {
    if (processingMs > 0) await pause(processingMs);
    return act();
  } finally {
    if (key !== undefined) payments.busyKeys.delete(key);
  }
}

function fingerprintOf({ method, path, raw }: Call): string {
  // Both places of the API are one.
  const place = path.replace(/^\/payments/, "");
  return createHash("sha256").update(`${method} ${place}\n`).update(raw).digest("base64url");
}
