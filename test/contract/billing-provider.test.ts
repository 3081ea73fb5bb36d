import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { createPlans } from "../../src/billing/plans.ts";
import { startJobs } from "../../src/worker.ts";
import { billingStage } from "../helpers/billing.ts";
import type { Payer } from "../helpers/billing.ts";

const stage = await billingStage();
const { call, control, delivered, deps } = stage;

// What a person does on the provider's pages is no call of ours.
const pages = "payments.checkout.decide";

interface JournalEntry {
  operation: string;
  request?: { method: string; headers: Record<string, string> };
}

const callsOf = async (): Promise<JournalEntry[]> =>
  (
    (await control("/_sandbox/journal?service=payments&limit=1000")) as unknown as {
      entries: JournalEntry[];
    }
  ).entries.filter(({ request }) => request !== undefined);

async function pay(address: string): Promise<void> {
  const paid = await fetch(address, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision: "pay", card: "4242424242424242" }),
  });
  assert.equal(paid.status, 303, await paid.text());
}

const runningOf = async (payer: Payer): Promise<string[]> => {
  const { rows } = await stage.db.query<{ customer_id: string }>(
    "select customer_id from subscriptions where user_id = $1",
    [payer.userId],
  );
  const list = await deps.billing.stripe?.subscriptions.list({
    customer: rows[0]?.customer_id ?? "",
    limit: 100,
  });
  return list?.data.map(({ id }) => id) ?? [];
};

test("ten checkouts paid side by side end in one subscription, one allowance, and nine notices", async () => {
  const payer = await stage.signUp();
  const open = await Promise.all(
    Array.from(
      { length: 10 },
      async () => await call(payer, "/api/create-checkout-session", { planId: "starter" }),
    ),
  );
  await Promise.all(open.map(async ({ body }) => await pay(String(body["url"]))));
  await delivered();
  assert.equal((await runningOf(payer)).length, 10);

  const worker = await startJobs(deps);
  try {
    const deadline = performance.now() + 15_000;
    while ((await runningOf(payer)).length > 1 && performance.now() < deadline) await pause(50);
  } finally {
    await worker.stop();
  }
  await delivered();
  const { body } = await call(payer, "/api/billing/subscription");
  const { rows } = await stage.db.query<{ subscription_id: string }>(
    "select subscription_id from subscriptions where user_id = $1",
    [payer.userId],
  );
  assert.deepEqual(
    await runningOf(payer),
    rows.map(({ subscription_id: id }) => id),
  );
  assert.partialDeepStrictEqual(body, { status: "trialing", planId: "starter" });
  assert.equal((await call(payer, "/api/v1/credits")).body["balance"], 60);
  const { notices } = (await call(payer, "/api/notices")).body as { notices: { kind: string }[] };
  assert.equal(notices.filter(({ kind }) => kind === "double_subscription_ended").length, 9);
});

test("a subscription that was never paid does not take the place of one that is", async () => {
  const payer = await stage.signUp();
  const sessionId = await stage.checkout(payer, "pro");
  await call(payer, "/api/verify-session", { sessionId });
  await delivered();
  await stage.db.query(
    `insert into subscription_states (user_id, customer_id, subscription_id, status, plan_id, price_id,
       current_period_start, current_period_end, started_at)
     select user_id, customer_id, 'sub_unpaid', 'unpaid', plan_id, price_id, current_period_start, current_period_end,
       started_at + interval '1 hour' from subscriptions where user_id = $1`,
    [payer.userId],
  );
  await call(payer, "/api/billing/change-plan", { planId: "starter" });
  await delivered();
  assert.partialDeepStrictEqual((await call(payer, "/api/billing/subscription")).body, {
    status: "trialing",
  });
});

test("whatever changes something at the provider carries an idempotency key", async () => {
  const payer = await stage.signUp();
  await stage.checkout(payer, "starter");
  await delivered();
  await call(payer, "/api/billing/change-plan", { planId: "pro" });
  await call(payer, "/api/billing/portal", {}, { accept: "application/json" });
  const changes = (await callsOf()).filter(
    ({ request, operation }) => request?.method !== "GET" && operation !== pages,
  );
  const names = new Set(changes.map(({ operation }) => operation));
  for (const name of [
    "customers.create",
    "checkout.create",
    "subscriptions.update",
    "portal.create",
  ])
    assert.ok(names.has(`payments.${name}`), `${name} is among ${[...names].join(", ")}`);
  // The SDK makes one up for its own retries where it is given none; those know nothing of ours.
  const without = changes.filter(
    ({ request }) => !/^(?!stripe-node-retry)./.test(request?.headers["idempotency-key"] ?? ""),
  );
  assert.deepEqual(
    without.map(({ operation }) => operation),
    [],
  );
});

test("prices are read again after five minutes, and sooner when one is not known", async () => {
  const { stripe } = deps.billing;
  assert.ok(stripe);
  const readings = async (): Promise<number> =>
    (await callsOf()).filter(({ operation }) => operation === "payments.prices.list").length;
  let now = 1_000_000;
  const plans = createPlans(stripe, pino({ level: "silent" }), () => now);
  const before = await readings();
  const priceId = (await plans.byId("pro"))?.priceId ?? "";
  await plans.byPrice([priceId]);
  assert.equal((await readings()) - before, 1);
  now += 5 * 60_000 + 1;
  await plans.byPrice([priceId]);
  assert.equal((await readings()) - before, 2);
  await plans.byPrice(["price_unknown"]);
  assert.equal((await readings()) - before, 2);
  now += 10_001;
  await plans.byPrice(["price_unknown"]);
  assert.equal((await readings()) - before, 3);
});
