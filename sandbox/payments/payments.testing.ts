import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { Sandbox } from "../app.ts";
import { postJson, testSandbox, until } from "../testing.ts";
import { payments } from "./payments.ts";
import type { CheckoutSession, StripeEvent } from "./session-shapes.ts";
import type { Invoice, InvoicePayment, List, Subscription } from "./shapes.ts";

export const cards = {
  pays: "4242424242424242",
  declined: "4000000000000002",
  failsLater: "4000000000000341",
  confirmedOnce: "4000002500003155",
  confirmedAlways: "4000002760003184",
};
export const day = 24 * 60 * 60;
export const successUrl = "http://127.0.0.1:3000/done?session_id={CHECKOUT_SESSION_ID}";
export const cancelUrl = "http://127.0.0.1:3000/plans";

export const start = (t: TestContext): Promise<Sandbox> => testSandbox(t, payments);

export interface ErrorBody {
  error: { type: string; code?: string; param?: string; message: string; decline_code?: string };
}

const bearer = { authorization: "Bearer sk_test_sandbox" };

export function get(sandbox: Sandbox, path: string, headers: object = bearer): Promise<Response> {
  return fetch(`${sandbox.url}/v1${path}`, { headers: { ...headers } });
}

export function post(
  sandbox: Sandbox,
  path: string,
  form: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${sandbox.url}/v1${path}`, {
    method: "POST",
    headers: { ...bearer, ...headers },
    body: new URLSearchParams(form),
  });
}

export async function ok<T>(answering: Promise<Response>): Promise<T> {
  const response = await answering;
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as T;
}

export async function refused(
  answering: Promise<Response>,
  status: number,
): Promise<ErrorBody["error"]> {
  const response = await answering;
  const text = await response.text();
  assert.equal(response.status, status, text);
  return (JSON.parse(text) as ErrorBody).error;
}

export const order = {
  mode: "subscription",
  "line_items[0][price]": "price_starter",
  "line_items[0][quantity]": "1",
  success_url: successUrl,
  cancel_url: cancelUrl,
  client_reference_id: "user-1",
  customer_email: "ada@example.com",
  "subscription_data[metadata][user]": "user-1",
};
export const withTrial = { "subscription_data[trial_period_days]": "14" };

export const createSession = (sandbox: Sandbox, form: object = {}): Promise<CheckoutSession> =>
  ok(post(sandbox, "/checkout/sessions", { ...order, ...form }));

/** What a person does at one of the pages. */
export function decide(url: string | null, form: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams(form);
  return fetch(url ?? "", { method: "POST", body, redirect: "manual" });
}

/** The whole way to a subscription. */
export async function subscribe(
  sandbox: Sandbox,
  { card = cards.pays, ...form }: Record<string, string> = {},
): Promise<Subscription> {
  const session = await createSession(sandbox, form);
  const response = await decide(session.url, { decision: "approve", card });
  assert.equal(response.status, 303, await response.clone().text());
  const path = `/checkout/sessions/${session.id}?expand[]=subscription`;
  const done = await ok<{ subscription: Subscription }>(get(sandbox, path));
  return done.subscription;
}

export const subscriptionOf = (sandbox: Sandbox, id: string): Promise<Subscription> =>
  ok(get(sandbox, `/subscriptions/${id}`));

/** With the id of its item, as a change of price needs it. */
export function change(
  sandbox: Sandbox,
  { id, items }: Subscription,
  form: Record<string, string>,
): Promise<Response> {
  return post(sandbox, `/subscriptions/${id}`, {
    "items[0][id]": items.data[0]?.id ?? "",
    "items[0][price]": "price_pro",
    ...form,
  });
}

export interface Changed extends Omit<Subscription, "latest_invoice"> {
  latest_invoice: Invoice & {
    confirmation_secret: { client_secret: string } | null;
    payments: List<InvoicePayment>;
  };
}

export async function advance(sandbox: Sandbox, seconds: number): Promise<void> {
  const response = await postJson(`${sandbox.url}/_sandbox/clock`, { advanceMs: seconds * 1000 });
  assert.equal(response.status, 200);
}

export async function set(sandbox: Sandbox, settings: object): Promise<void> {
  const response = await postJson(`${sandbox.url}/payments/_control`, settings);
  assert.equal(response.status, 200, await response.clone().text());
}

/** The oldest first. */
export async function eventsOf(sandbox: Sandbox): Promise<StripeEvent[]> {
  const { data } = await ok<{ data: StripeEvent[] }>(get(sandbox, "/events?limit=100"));
  return data.toReversed();
}

export async function typesOf(sandbox: Sandbox): Promise<string[]> {
  return (await eventsOf(sandbox)).map(({ type }) => type);
}

export const deliveries = async (
  sandbox: Sandbox,
): Promise<{ pending: number; delivered: number; failed: number }> =>
  (await (await fetch(`${sandbox.url}/payments/_control/deliveries`)).json()) as never;

export async function allDelivered(sandbox: Sandbox): Promise<void> {
  await until("all is delivered", async () => (await deliveries(sandbox)).pending === 0);
}

export interface Received {
  headers: IncomingHttpHeaders;
  raw: string;
  event: StripeEvent;
}

/** An endpoint that keeps what it gets, and answers as the test says. */
export async function endpoint(
  t: TestContext,
  statusOf: (count: number) => number = () => 200,
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const raw = bytes.toString();
      received.push({ headers: request.headers, raw, event: JSON.parse(raw) as StripeEvent });
      response.writeHead(statusOf(received.length)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}
