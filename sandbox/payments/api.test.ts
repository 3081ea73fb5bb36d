import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startSandbox } from "../app.ts";
import { addFault, temporaryDir, until } from "../testing.ts";
import { payments } from "./payments.ts";
import {
  createSession,
  get,
  ok,
  post,
  refused,
  set,
  start,
  subscribe,
} from "./payments.testing.ts";
import type { Customer, List, Price, Subscription } from "./shapes.ts";

const keyed = (key: string): Record<string, string> => ({ "idempotency-key": key });

describe("every answer", () => {
  test("names its request and echoes the asked version, refusals too", async (t) => {
    const sandbox = await start(t);
    for (const path of ["/prices", "/prices/x", "/nothing"]) {
      const headers = {
        authorization: "Bearer sk_test_sandbox",
        "stripe-version": "2026-03-25.dahlia",
      };
      const response = await get(sandbox, path, headers);
      assert.match(response.headers.get("request-id") ?? "", /^req_/, path);
      assert.equal(response.headers.get("stripe-version"), "2026-03-25.dahlia", path);
    }
    const error = await refused(get(sandbox, "/prices/x"), 404);
    assert.deepEqual([error.type, error.code], ["invalid_request_error", "resource_missing"]);
    assert.match((await refused(get(sandbox, "/nothing"), 404)).message, /GET: \/v1\/nothing/);
  });

  test("is the same below /payments/v1", async (t) => {
    const sandbox = await start(t);
    const { id } = await ok<Customer>(post(sandbox, "/customers", { email: "a@b.c" }));
    const headers = {
      authorization: `Basic ${Buffer.from("sk_test_sandbox:").toString("base64")}`,
    };
    const response = await fetch(`${sandbox.url}/payments/v1/customers/${id}`, { headers });
    assert.equal(((await response.json()) as Customer).email, "a@b.c");
  });

  test("without the right key is 401 and nothing happens", async (t) => {
    const sandbox = await start(t);
    await refused(get(sandbox, "/prices", {}), 401);
    const headers = { authorization: "Bearer sk_live_real" };
    await refused(post(sandbox, "/customers", {}, headers), 401);
    assert.deepEqual((await ok<List<Customer>>(get(sandbox, "/customers"))).data, []);
  });

  test("suffers from faults by the name of the operation", async (t) => {
    const sandbox = await start(t);
    const rule = {
      operation: "payments.prices.list",
      phase: "before",
      effect: "fail",
      status: 503,
    };
    await addFault(sandbox, { service: "payments", ...rule, times: 1 });
    assert.equal((await get(sandbox, "/prices")).status, 503);
    assert.equal((await get(sandbox, "/prices")).status, 200);
  });
});

describe("lists and expansions", () => {
  test("a list comes in pages, the newest first", async (t) => {
    const sandbox = await start(t);
    for (const name of ["a", "b", "c"]) await ok(post(sandbox, "/customers", { name }));
    const names = ({ data }: List<Customer>): (string | null)[] => data.map(({ name }) => name);
    const first = await ok<List<Customer>>(get(sandbox, "/customers?limit=2"));
    assert.deepEqual([names(first), first.has_more], [["c", "b"], true]);
    const after = `/customers?limit=2&starting_after=${first.data[1]?.id}`;
    const second = await ok<List<Customer>>(get(sandbox, after));
    assert.deepEqual([names(second), second.has_more], [["a"], false]);
    const before = `/customers?limit=1&ending_before=${second.data[0]?.id}`;
    assert.deepEqual(names(await ok<List<Customer>>(get(sandbox, before))), ["b"]);
    await refused(get(sandbox, "/customers?limit=101"), 400);
    await refused(get(sandbox, "/customers?starting_after=cus_x"), 400);
  });

  test("the seeded plans say what they give, and the control changes it everywhere", async (t) => {
    const sandbox = await start(t);
    const { data } = await ok<List<Price>>(get(sandbox, "/prices?active=true"));
    assert.deepEqual(
      data.map(({ id, unit_amount, metadata }) => [id, unit_amount, metadata]),
      [
        ["price_pro", 4900, { credits_per_period: "300", plan_id: "pro" }],
        ["price_starter", 1900, { credits_per_period: "60", plan_id: "starter" }],
      ],
    );
    const { id } = await subscribe(sandbox);
    const response = await fetch(`${sandbox.url}/payments/_control/prices/price_starter`, {
      method: "POST",
      body: JSON.stringify({ metadata: { credits_per_period: "7" } }),
    });
    assert.equal(response.status, 200);
    const { items } = await ok<Subscription>(get(sandbox, `/subscriptions/${id}`));
    assert.deepEqual(items.data[0]?.price.metadata, { credits_per_period: "7" });
  });

  test("inside a list expands every entry; what cannot be expanded is refused", async (t) => {
    const sandbox = await start(t);
    await subscribe(sandbox);
    const list = await ok<List<{ customer: Customer }>>(
      get(sandbox, "/subscriptions?expand[]=data.customer&expand[]=data.latest_invoice.payments"),
    );
    assert.equal(list.data[0]?.customer.object, "customer");
    await refused(get(sandbox, "/subscriptions?expand[]=data.colour"), 400);
    await refused(get(sandbox, "/subscriptions?expand=customer"), 400);
    await refused(get(sandbox, "/subscriptions?expand[]=data.a.b.c.d"), 400);
  });
});

describe("an idempotency key", () => {
  test("gets the first answer again, and nothing happens twice", async (t) => {
    const sandbox = await start(t);
    const first = await post(sandbox, "/customers", { name: "a" }, keyed("k"));
    const second = await post(sandbox, "/customers", { name: "a" }, keyed("k"));
    assert.equal(second.headers.get("idempotent-replayed"), "true");
    assert.deepEqual(await second.json(), await first.json());
    assert.equal((await ok<List<Customer>>(get(sandbox, "/customers"))).data.length, 1);
  });

  test("used twenty times at once makes one customer", async (t) => {
    const sandbox = await start(t);
    const ask = () => post(sandbox, "/customers", { name: "a" }, keyed("k"));
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
    assert.equal((await ok<List<Customer>>(get(sandbox, "/customers"))).data.length, 1);
  });

  test("with other parameters is refused", async (t) => {
    const sandbox = await start(t);
    await ok(post(sandbox, "/customers", { name: "a" }, keyed("k")));
    const error = await refused(post(sandbox, "/customers", { name: "b" }, keyed("k")), 400);
    assert.equal(error.type, "idempotency_error");
  });

  test("is not used up by a request that was refused as invalid", async (t) => {
    const sandbox = await start(t);
    await refused(post(sandbox, "/customers", { colour: "red" }, keyed("k")), 400);
    await ok(post(sandbox, "/customers", { name: "a" }, keyed("k")));
  });

  test("is 409 while its first request is being worked on", async (t) => {
    const sandbox = await start(t);
    await set(sandbox, { processingMs: 300 });
    const first = post(sandbox, "/customers", { name: "a" }, keyed("k"));
    let error: { type: string } | undefined;
    await until("the key is busy", async () => {
      const response = await post(sandbox, "/customers", { name: "a" }, keyed("k"));
      if (response.status === 409)
        ({ error } = (await response.json()) as { error: { type: string } });
      return error !== undefined;
    });
    assert.equal(error?.type, "idempotency_error");
    assert.ok((await ok<Customer>(first)).id);
    assert.equal((await ok<List<Customer>>(get(sandbox, "/customers"))).data.length, 1);
  });
});

test("everything is still there after a restart", async (t) => {
  const options = { port: 0, dataDir: await temporaryDir(t), services: payments };
  const before = await startSandbox(options);
  const { id } = await subscribe(before);
  const open = await createSession(before);
  await ok(post(before, "/customers", { name: "a" }, keyed("k")));
  await before.close();
  const after = await startSandbox(options);
  t.after(() => after.close());
  assert.equal((await ok<Subscription>(get(after, `/subscriptions/${id}`))).status, "active");
  await ok(get(after, `/checkout/sessions/${open.id}`));
  const again = await post(after, "/customers", { name: "a" }, keyed("k"));
  assert.equal(again.headers.get("idempotent-replayed"), "true");
});
