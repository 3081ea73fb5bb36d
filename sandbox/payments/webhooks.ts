import { createHmac } from "node:crypto";
import { inOldShape } from "./old-shapes.ts";
import { settingsOf } from "./settings.ts";
import { must } from "./state.ts";
import type { Delivery, Payments } from "./state.ts";

/** Pauses before the second and later tries; Stripe's are hours. */
const retryPausesMs = [200, 1000, 5000];
const timeoutMs = 10_000;

export function signatureOf(secrets: readonly string[], timestamp: number, body: string): string {
  const signatures = secrets.map((secret) => {
    const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    return `v1=${digest}`;
  });
  return [`t=${timestamp}`, ...signatures].join(",");
}

export interface Sender {
  /** Starts whatever is due and not under way. */
  pump(): void;
  close(): Promise<void>;
}

/** Tells the endpoint what happened: in order, one after the other, unless the settings ask for trouble. */
export function senderOf(payments: Payments): Sender {
  const stop = new AbortController();
  let round = Promise.resolve();
  let isBusy = false;

  const sendAll = async (due: readonly Delivery[]): Promise<void> => {
    for (const delivery of due) {
      if (stop.signal.aborted) return;
      await attempt(payments, delivery, stop.signal);
    }
  };
  return {
    pump() {
      if (isBusy || stop.signal.aborted) return;
      const due = dueDeliveries(payments);
      if (due.length === 0) return;
      isBusy = true;
      round = sendAll(due).finally(() => {
        isBusy = false;
      });
    },
    async close() {
      stop.abort();
      await round;
    },
  };
}

function dueDeliveries(payments: Payments): Delivery[] {
  const due = Array.from(payments.deliveries.values()).filter(
    ({ status, dueAtMs }) => status === "pending" && dueAtMs <= Date.now(),
  );
  // Newest first: the worst order, and the same one every time.
  return settingsOf(payments).isShuffling ? due.toReversed() : due;
}

async function attempt(payments: Payments, delivery: Delivery, stop: AbortSignal): Promise<void> {
  const { deliveries, note } = payments;
  const { eventId } = delivery;
  const { type } = must(payments.events, eventId);
  // On disk first, so that nobody is told of what a crash could undo.
  await note("payments.webhook", `${type} ${eventId} to be sent`);
  const { isDuplicating } = settingsOf(payments);
  const copies = Array.from({ length: isDuplicating ? 2 : 1 }, () => post(payments, eventId, stop));
  const results = await Promise.all(copies);
  if (stop.aborted) return;
  const attempts = delivery.attempts + 1;
  const isDelivered = results.every(({ isTaken }) => isTaken);
  const pauseMs = retryPausesMs[attempts - 1];
  const waits = pauseMs === undefined ? ("failed" as const) : ("pending" as const);
  deliveries.set(eventId, {
    eventId,
    attempts,
    status: isDelivered ? "delivered" : waits,
    dueAtMs: Date.now() + (pauseMs ?? 0),
  });
  if (isDelivered) {
    payments.events.set(eventId, { ...must(payments.events, eventId), pending_webhooks: 0 });
  }
  await note(
    "payments.webhook",
    `${type} ${eventId}: ${results.map(({ text }) => text).join(", ")}`,
  );
}

async function post(
  payments: Payments,
  eventId: string,
  stop: AbortSignal,
): Promise<{ isTaken: boolean; text: string }> {
  const { endpoint, secrets, signatureAgeSeconds, apiVersion } = settingsOf(payments);
  if (endpoint === null) return { isTaken: false, text: "no endpoint" };
  const event = must(payments.events, eventId);
  const body = JSON.stringify(
    apiVersion === "acacia" ? inOldShape(payments, event) : event,
    null,
    2,
  );
  // Receivers compare it with the real time, whatever this world's clock says.
  const timestamp = Math.floor(Date.now() / 1000) - signatureAgeSeconds;
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json; charset=utf-8",
        "stripe-signature": signatureOf(secrets, timestamp, body),
        "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      },
      body,
      redirect: "manual",
      signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return { isTaken: response.ok, text: String(response.status) };
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    return { isTaken: false, text: cause instanceof Error ? cause.message : message };
  }
}
