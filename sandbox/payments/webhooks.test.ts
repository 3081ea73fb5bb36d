import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { startSandbox } from "../app.ts";
import { postJson, temporaryDir, until } from "../testing.ts";
import { payments } from "./payments.ts";
import {
  allDelivered,
  deliveries,
  endpoint,
  get,
  ok,
  post,
  set,
  start,
  subscribe,
  typesOf,
} from "./payments.testing.ts";
import type { Received } from "./payments.testing.ts";
import type { StripeEvent } from "./session-shapes.ts";
import type { List } from "./shapes.ts";

const idsOf = (received: readonly Received[]): string[] => received.map(({ event }) => event.id);

function signatures({ headers }: Received): { t: number; v1: string[] } {
  const pairs = String(headers["stripe-signature"])
    .split(",")
    .map((pair) => pair.split("="));
  const v1 = pairs.filter(([name]) => name === "v1").map(([, value]) => String(value));
  return { t: Number(pairs[0]?.[1]), v1 };
}

function expected(secret: string, { raw }: Received, t: number): string {
  return createHmac("sha256", secret).update(`${t}.${raw}`).digest("hex");
}

test("every event reaches the endpoint in order, signed over its exact bytes", async (t) => {
  const sandbox = await start(t);
  const { url, received } = await endpoint(t);
  await set(sandbox, { endpoint: url });
  await subscribe(sandbox);
  await allDelivered(sandbox);
  assert.deepEqual(
    received.map(({ event }) => event.type),
    await typesOf(sandbox),
  );
  for (const each of received) {
    const { t: timestamp, v1 } = signatures(each);
    assert.deepEqual(v1, [expected("whsec_sandbox", each, timestamp)]);
    assert.ok(Math.abs(Date.now() / 1000 - timestamp) < 60);
    assert.equal(each.event.api_version, "2026-07-29.dahlia");
  }
  assert.deepEqual(await deliveries(sandbox), {
    pending: 0,
    delivered: received.length,
    failed: 0,
  });
});

test("two secrets sign during a rotation, and a signature can be made old", async (t) => {
  const sandbox = await start(t);
  const { url, received } = await endpoint(t);
  const secrets = ["whsec_new", "whsec_old"];
  await set(sandbox, { endpoint: url, secrets, signatureAgeSeconds: 400 });
  await ok(post(sandbox, "/customers"));
  await allDelivered(sandbox);
  const [first] = received;
  assert.ok(first);
  const { t: timestamp, v1 } = signatures(first);
  assert.deepEqual(
    v1,
    secrets.map((secret) => expected(secret, first, timestamp)),
  );
  assert.ok(Date.now() / 1000 - timestamp >= 400);
});

test("an event says which request caused it", async (t) => {
  const sandbox = await start(t);
  const response = await post(sandbox, "/customers", {}, { "idempotency-key": "k" });
  const { data } = await ok<List<StripeEvent>>(get(sandbox, "/events?type=customer.created"));
  const id = response.headers.get("request-id");
  assert.deepEqual(data[0]?.request, { id, idempotency_key: "k" });
});

test("a refused delivery is repeated until it is taken", async (t) => {
  const sandbox = await start(t);
  const { url, received } = await endpoint(t, (count) => (count < 3 ? 500 : 200));
  await set(sandbox, { endpoint: url });
  await ok(post(sandbox, "/customers"));
  await allDelivered(sandbox);
  assert.deepEqual([received.length, new Set(idsOf(received)).size], [3, 1]);
  assert.deepEqual(await deliveries(sandbox), { pending: 0, delivered: 1, failed: 0 });
});

test("duplicates, the worst order and a resent event all arrive", async (t) => {
  const sandbox = await start(t);
  const { url, received } = await endpoint(t);
  await set(sandbox, { endpoint: url, isDuplicating: true, isShuffling: true });
  await subscribe(sandbox);
  await allDelivered(sandbox);
  const types = await typesOf(sandbox);
  assert.equal(received.length, 2 * types.length);
  const firsts = [...new Map(received.map(({ event }) => [event.id, event.type])).values()];
  assert.deepEqual(firsts, types.toReversed());

  await set(sandbox, { isDuplicating: false });
  const [event] = idsOf(received);
  const again = await postJson(`${sandbox.url}/payments/_control/resend`, { event });
  assert.equal(again.status, 200);
  await allDelivered(sandbox);
  assert.equal(idsOf(received).at(-1), event);
});

test("an endpoint of the old version gets the old shapes", async (t) => {
  const sandbox = await start(t);
  const { url, received } = await endpoint(t);
  await set(sandbox, { endpoint: url, apiVersion: "acacia" });
  const subscription = await subscribe(sandbox);
  await allDelivered(sandbox);
  const objectOf = (type: string): Record<string, unknown> => {
    const found = received.find(({ event }) => event.type === type);
    assert.equal(found?.event.api_version, "2024-09-30.acacia");
    return found.event.data.object as Record<string, unknown>;
  };
  const created = objectOf("customer.subscription.created");
  const [item] = subscription.items.data;
  assert.equal(created["current_period_end"], item?.current_period_end);
  const invoice = objectOf("invoice.payment_succeeded");
  assert.deepEqual([invoice["subscription"], invoice["paid"]], [subscription.id, true]);
  assert.match(String(invoice["payment_intent"]), /^pi_/);
  assert.ok(!("parent" in invoice));
});

test("what was not delivered before a restart is delivered after it", async (t) => {
  const options = { port: 0, dataDir: await temporaryDir(t), services: payments };
  const before = await startSandbox(options);
  const { url, received } = await endpoint(t);
  await set(before, { endpoint: url, delayMs: 60_000 });
  await ok(post(before, "/customers"));
  await set(before, { delayMs: 200 });
  const { id } = await ok<{ id: string }>(post(before, "/customers"));
  await before.close();
  assert.equal(received.length, 0);
  const after = await startSandbox(options);
  t.after(() => after.close());
  await until("the event arrives", () => received.length > 0);
  assert.deepEqual(
    received.map(({ event }) => (event.data.object as { id: string }).id),
    [id],
  );
  assert.equal((await deliveries(after)).pending, 1);
});
