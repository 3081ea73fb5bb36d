import assert from "node:assert/strict";
import { test } from "node:test";
import { billingStage } from "../helpers/billing.ts";
import type { Payer } from "../helpers/billing.ts";

const stage = await billingStage();
const { db, call, checkout, forward, delivered } = stage;
const day = 86_400_000;

async function creditsOf(payer: Payer) {
  const { body } = await call(payer, "/api/v1/credits");
  return body as {
    balance: number;
    periodEnd: string | null;
    entries: { kind: string; amount: number }[];
  };
}
const subscriptionOf = async (payer: Payer) =>
  (await call(payer, "/api/billing/subscription")).body;
const noticesOf = async (payer: Payer): Promise<string[]> =>
  ((await call(payer, "/api/notices")).body as { notices: { kind: string }[] }).notices.map(
    ({ kind }) => kind,
  );

test("a checkout ends in a trial of seven days with the plan's credits, verified or told", async () => {
  const payer = await stage.signUp();
  const sessionId = await checkout(payer, "starter");
  const { status, body } = await call(payer, "/api/verify-session", { sessionId });
  assert.equal(status, 200, JSON.stringify(body));
  assert.partialDeepStrictEqual(body, { status: "trialing", planId: "starter" });
  const daysLeft = (Date.parse(String(body["trialEnd"])) - Date.now()) / day;
  assert.ok(daysLeft > 6.9 && daysLeft < 7.1);
  assert.equal(body["currentPeriodEnd"], body["trialEnd"]);
  await delivered();
  const { balance, entries } = await creditsOf(payer);
  assert.deepEqual(
    [balance, entries.map(({ kind, amount }) => [kind, amount])],
    [60, [["grant", 60]]],
  );
});

test("without the verification the events alone do the same", async () => {
  const payer = await stage.signUp();
  await checkout(payer, "pro");
  await delivered();
  assert.partialDeepStrictEqual(await subscriptionOf(payer), { status: "trialing", planId: "pro" });
  assert.equal((await creditsOf(payer)).balance, 300);
});

test("verify-session 50 times in parallel with the webhook finishes once", async () => {
  const payer = await stage.signUp();
  const sessionId = await checkout(payer, "starter");
  const answers = await Promise.all(
    Array.from({ length: 50 }, async () => await call(payer, "/api/verify-session", { sessionId })),
  );
  await delivered();
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal((await creditsOf(payer)).entries.length, 1);
  const { rowCount } = await db.query("select from checkout_sessions where user_id = $1", [
    payer.userId,
  ]);
  assert.equal(rowCount, 1);
});

test("another user's session is 403, an unknown one 404, an unpaid one 400, and nothing is granted", async () => {
  const [payer, other] = [await stage.signUp(), await stage.signUp()];
  const sessionId = await checkout(payer, "starter");
  const foreign = await call(other, "/api/verify-session", { sessionId });
  assert.deepEqual(
    [foreign.status, (foreign.body["error"] as { code: string }).code],
    [403, "forbidden"],
  );
  const { body } = await call(other, "/api/create-checkout-session", { planId: "pro" });
  assert.equal(
    (await call(other, "/api/verify-session", { sessionId: body["sessionId"] })).status,
    400,
  );
  assert.equal(
    (await call(other, "/api/verify-session", { sessionId: "cs_test_nothing" })).status,
    404,
  );
  assert.equal((await call(other, "/api/verify-session", { sessionId: "nonsense" })).status, 400);
  await delivered();
  assert.equal((await creditsOf(other)).balance, 0);
});

test("a trial ends, a period renews: what is left expires, and the new allowance is there", async () => {
  const payer = await stage.signUp();
  await checkout(payer, "starter");
  await delivered();
  await forward(4.5);
  assert.deepEqual(await noticesOf(payer), ["trial_will_end"]);
  await forward(3);
  assert.partialDeepStrictEqual(await subscriptionOf(payer), { status: "active" });
  const { balance, entries } = await creditsOf(payer);
  assert.equal(balance, 60);
  assert.deepEqual(
    entries.map(({ kind, amount }) => [kind, amount]),
    [
      ["grant", 60],
      ["expiry", -60],
      ["grant", 60],
    ],
  );
});

test("a payment that fails makes the subscription past_due, and the user is told", async () => {
  const payer = await stage.signUp();
  await checkout(payer, "starter", "4000000000000341");
  await delivered();
  await forward(7.5);
  assert.partialDeepStrictEqual(await subscriptionOf(payer), { status: "past_due" });
  assert.ok((await noticesOf(payer)).includes("payment_failed"));
});

test("the plan changes at once, the credits with the next period", async () => {
  const payer = await stage.signUp();
  await checkout(payer, "starter");
  await delivered();
  await forward(8);
  const before = await subscriptionOf(payer);
  const { status, body } = await call(payer, "/api/billing/change-plan", { planId: "pro" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.partialDeepStrictEqual(body, {
    status: "active",
    planId: "pro",
    requiresAction: false,
    pendingPlan: { planId: "pro", creditsPerPeriod: 300, appliesAt: before["currentPeriodEnd"] },
  });
  await delivered();
  assert.partialDeepStrictEqual(await subscriptionOf(payer), {
    planId: "pro",
    pendingPlan: { planId: "pro" },
  });
  assert.equal((await creditsOf(payer)).balance, 60);
  await forward(31);
  assert.partialDeepStrictEqual(await subscriptionOf(payer), { planId: "pro", pendingPlan: null });
  assert.equal((await creditsOf(payer)).balance, 300);
  assert.equal((await call(payer, "/api/billing/change-plan", { planId: "pro" })).status, 400);
});

test("a change that the bank wants confirmed says so, and waits for it", async () => {
  const payer = await stage.signUp();
  await checkout(payer, "starter");
  await delivered();
  await forward(8);
  const portal = await call(payer, "/api/billing/portal", {}, { accept: "application/json" });
  // A card that asks its owner every time.
  const card = new URLSearchParams({ decision: "card", card: "4000002760003184" });
  await fetch(String(portal.body["url"]), { method: "POST", redirect: "manual", body: card });
  const { status, body } = await call(payer, "/api/billing/change-plan", { planId: "pro" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.partialDeepStrictEqual(body, {
    status: "active",
    planId: "starter",
    requiresAction: true,
    pendingPlan: { planId: "pro" },
  });
  const secret = String(body["paymentIntentClientSecret"]);
  assert.match(secret, /^pi_.*_secret_/);
  await delivered();
  assert.partialDeepStrictEqual(await subscriptionOf(payer), {
    planId: "starter",
    pendingPlan: { planId: "pro" },
  });
  const confirm = new URLSearchParams({ decision: "approve" });
  const answer = await fetch(`${stage.sandboxUrl}/payments/confirm/${secret}`, {
    method: "POST",
    redirect: "manual",
    body: confirm,
  });
  assert.ok(answer.status < 400, await answer.text());
  await delivered();
  assert.partialDeepStrictEqual(await subscriptionOf(payer), { planId: "pro", status: "active" });
});

test("the portal: by cookie a redirect, by token an address, and a cancellation arrives", async () => {
  const payer = await stage.signUp();
  assert.equal((await fetch(`${stage.url}/api/billing/portal`, { method: "POST" })).status, 401);
  assert.equal((await call(payer, "/api/billing/portal", {})).status, 404);
  await checkout(payer, "starter");
  await delivered();
  const redirect = await fetch(`${stage.url}/api/billing/portal`, {
    method: "POST",
    headers: { cookie: payer.cookie },
    redirect: "manual",
  });
  assert.equal(redirect.status, 303);
  const page = redirect.headers.get("location") ?? "";
  const { rows } = await db.query<{ id: string }>(
    "select subscription_id as id from subscriptions where user_id = $1",
    [payer.userId],
  );
  const canceled = await fetch(page, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision: "cancel", subscription: rows[0]?.id ?? "" }),
  });
  assert.ok(canceled.status < 400, await canceled.text());
  await delivered();
  assert.partialDeepStrictEqual(await subscriptionOf(payer), {
    status: "trialing",
    cancelAtPeriodEnd: true,
  });
  await forward(8);
  assert.partialDeepStrictEqual(await subscriptionOf(payer), { status: "canceled" });
});

test("who has a subscription changes its plan instead of buying another", async () => {
  const payer = await stage.signUp();
  await checkout(payer, "starter");
  await delivered();
  const { status, body } = await call(payer, "/api/create-checkout-session", { planId: "pro" });
  assert.deepEqual(
    [status, (body["error"] as { details: { code: string }[] }).details[0]?.code],
    [400, "subscribed"],
  );
});

test("a repeated request for a checkout gets the same one", async () => {
  const payer = await stage.signUp();
  const key = { "idempotency-key": "checkout-1" };
  const first = await call(payer, "/api/create-checkout-session", { planId: "starter" }, key);
  const second = await call(payer, "/api/create-checkout-session", { planId: "starter" }, key);
  assert.deepEqual(first.body, second.body);
});

test("without an ID token, and with an unknown plan, nothing is sold", async () => {
  const payer = await stage.signUp();
  for (const path of [
    "/api/create-checkout-session",
    "/api/verify-session",
    "/api/billing/change-plan",
  ]) {
    const answer = await fetch(`${stage.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assert.equal(answer.status, 401, path);
  }
  assert.equal((await call(payer, "/api/create-checkout-session", { planId: "gold" })).status, 400);
  assert.equal((await call(payer, "/api/billing/change-plan", { planId: "pro" })).status, 400);
});
