import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  advance,
  cancelUrl,
  cards,
  createSession,
  day,
  decide,
  get,
  ok,
  order,
  post,
  refused,
  start,
  subscribe,
  typesOf,
  withTrial,
} from "./payments.testing.ts";
import type { CheckoutSession } from "./session-shapes.ts";
import type { Customer, Invoice, List, Subscription } from "./shapes.ts";

describe("a checkout session", () => {
  test("is open, has an address and has created nothing", async (t) => {
    const sandbox = await start(t);
    const session = await createSession(sandbox, { "metadata[plan]": "starter" });
    assert.match(session.id, /^cs_test_/);
    assert.deepEqual(
      [session.status, session.payment_status, session.amount_total, session.subscription],
      ["open", "unpaid", 1900, null],
    );
    assert.deepEqual(session.metadata, { plan: "starter" });
    const page = await fetch(session.url ?? "");
    assert.match(await page.text(), /Starter.*\$19\.00/s);
    for (const path of ["/customers", "/subscriptions?status=all", "/invoices"]) {
      assert.deepEqual((await ok<List<object>>(get(sandbox, path))).data, [], path);
    }
  });

  test("that is paid makes customer, subscription and paid invoice, and returns with its id", async (t) => {
    const sandbox = await start(t);
    const session = await createSession(sandbox);
    const response = await decide(session.url, { decision: "pay", card: "4242 4242 4242 4242" });
    assert.equal(response.status, 303);
    const back = `http://127.0.0.1:3000/done?session_id=${session.id}`;
    assert.equal(response.headers.get("location"), back);
    const query = "expand[0]=subscription.latest_invoice&expand[1]=customer&expand[2]=line_items";
    const done = await ok<
      Omit<CheckoutSession, "subscription" | "customer"> & {
        subscription: Omit<Subscription, "latest_invoice"> & { latest_invoice: Invoice };
        customer: Customer;
        line_items: List<{ price: { metadata: object } }>;
      }
    >(get(sandbox, `/checkout/sessions/${session.id}?${query}`));
    const { subscription } = done;
    assert.deepEqual([done.status, done.payment_status, done.url], ["complete", "paid", null]);
    assert.equal(done.customer.email, "ada@example.com");
    assert.deepEqual([subscription.status, subscription.metadata], ["active", { user: "user-1" }]);
    const { status, amount_paid, parent, ...invoice } = subscription.latest_invoice;
    assert.deepEqual(
      [status, amount_paid, invoice.billing_reason],
      ["paid", 1900, "subscription_create"],
    );
    assert.equal(parent.subscription_details.subscription, subscription.id);
    assert.ok(!("confirmation_secret" in invoice) && !("payments" in invoice));
    assert.deepEqual(done.line_items.data[0]?.price.metadata, {
      credits_per_period: "60",
      plan_id: "starter",
    });
    assert.ok(!("current_period_end" in subscription));
    assert.equal(invoice.lines.data[0]?.period.end, subscription.items.data[0]?.current_period_end);
    assert.deepEqual(await typesOf(sandbox), [
      "customer.created",
      "payment_method.attached",
      "invoice.created",
      "customer.subscription.created",
      "invoice.finalized",
      "payment_intent.succeeded",
      "invoice.paid",
      "invoice.payment_succeeded",
      "checkout.session.completed",
    ]);
  });

  test("with a trial costs nothing today and starts a trialing subscription", async (t) => {
    const sandbox = await start(t);
    const subscription = await subscribe(sandbox, withTrial);
    const [item] = subscription.items.data;
    assert.equal(subscription.status, "trialing");
    assert.equal(subscription.trial_end, (subscription.trial_start ?? 0) + 14 * day);
    assert.equal(item?.current_period_end, subscription.trial_end);
    const { data } = await ok<List<Invoice>>(
      get(sandbox, `/invoices?subscription=${subscription.id}`),
    );
    assert.deepEqual(
      data.map(({ status, total }) => [status, total]),
      [["paid", 0]],
    );
  });

  test("takes no card when none is required", async (t) => {
    const sandbox = await start(t);
    const form = { ...withTrial, payment_method_collection: "if_required", card: "" };
    assert.equal((await subscribe(sandbox, form)).default_payment_method, null);
  });

  test("whose card is declined stays open and creates nothing", async (t) => {
    const sandbox = await start(t);
    const session = await createSession(sandbox);
    for (const card of [cards.declined, cards.failsLater, "1234", ""]) {
      assert.equal((await decide(session.url, { decision: "pay", card })).status, 402, card);
    }
    assert.deepEqual(await typesOf(sandbox), []);
    const { status } = await ok<CheckoutSession>(get(sandbox, `/checkout/sessions/${session.id}`));
    assert.equal(status, "open");
  });

  test("whose card asks first completes only when it is approved", async (t) => {
    const sandbox = await start(t);
    const session = await createSession(sandbox);
    const asked = await decide(session.url, { decision: "pay", card: cards.confirmedOnce });
    assert.equal(asked.status, 200);
    assert.match(await asked.text(), /value="approve"/);
    const card = { card: cards.confirmedOnce };
    assert.equal((await decide(session.url, { decision: "decline", ...card })).status, 402);
    assert.deepEqual(await typesOf(sandbox), []);
    assert.equal((await decide(session.url, { decision: "approve", ...card })).status, 303);
  });

  test("that is abandoned goes back and stays open", async (t) => {
    const sandbox = await start(t);
    const { url } = await createSession(sandbox);
    const response = await decide(url, { decision: "abandon" });
    assert.deepEqual([response.status, response.headers.get("location")], [303, cancelUrl]);
    assert.equal((await decide(url, { decision: "pay", card: cards.pays })).status, 303);
  });

  test("that is paid twenty times at once makes one subscription", async (t) => {
    const sandbox = await start(t);
    const { url } = await createSession(sandbox);
    const pay = { decision: "pay", card: cards.pays };
    const answers = await Promise.all(Array.from({ length: 20 }, () => decide(url, pay)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [303, ...Array.from({ length: 19 }, () => 410)]);
    assert.equal((await ok<List<object>>(get(sandbox, "/subscriptions"))).data.length, 1);
  });

  test("ends when it is expired, and by itself after a day", async (t) => {
    const sandbox = await start(t);
    const first = await createSession(sandbox);
    const second = await createSession(sandbox);
    const path = `/checkout/sessions/${first.id}`;
    assert.equal((await ok<CheckoutSession>(post(sandbox, `${path}/expire`))).status, "expired");
    await refused(post(sandbox, `${path}/expire`), 400);
    assert.equal((await decide(first.url, { decision: "pay", card: cards.pays })).status, 410);
    await advance(sandbox, day);
    const other = await ok<CheckoutSession>(get(sandbox, `/checkout/sessions/${second.id}`));
    assert.deepEqual([other.status, other.url], ["expired", null]);
  });

  const refusals: [name: string, form: object, code: string | undefined, param: string][] = [
    ["an unknown parameter", { colour: "red" }, "parameter_unknown", "colour"],
    ["an unknown inner one", { "line_items[0][x]": "1" }, "parameter_unknown", "line_items[0][x]"],
    [
      "an unknown price",
      { "line_items[0][price]": "x" },
      "resource_missing",
      "line_items[0][price]",
    ],
    ["a relative address", { success_url: "/done" }, undefined, "success_url"],
    ["a late end", { expires_at: "9999999999" }, undefined, "expires_at"],
    ["an old way to show it", { ui_mode: "hosted" }, undefined, "ui_mode"],
  ];
  for (const [name, form, code, param] of refusals) {
    test(`with ${name} is refused`, async (t) => {
      const sandbox = await start(t);
      const error = await refused(post(sandbox, "/checkout/sessions", { ...order, ...form }), 400);
      assert.deepEqual(
        [error.type, error.code, error.param],
        ["invalid_request_error", code, param],
      );
    });
  }

  test("without its mode is refused with the name of the parameter", async (t) => {
    const sandbox = await start(t);
    const error = await refused(
      post(sandbox, "/checkout/sessions", { success_url: cancelUrl }),
      400,
    );
    assert.deepEqual([error.code, error.param], ["parameter_missing", "mode"]);
  });
});
