import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestUser, testApp } from "../helpers/app.ts";
import { signUp } from "../helpers/tokens.ts";

const { app, db, config } = await testApp();
app.get("/v1/breaks", () => {
  throw new Error("broken");
});
const { key } = await createTestUser(db);
const without = await createTestUser(db, null);
const { token } = await signUp(app, config.urls.web);

const security = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "strict-origin-when-cross-origin",
  "x-dns-prefetch-control": "off",
  "strict-transport-security": "max-age=63072000; includeSubDomains",
};

const authorization = `Bearer ${token}`;
const json = { "content-type": "application/json" };
const requests = [
  [200, { url: "/health" }],
  [200, { url: "/v1/me", headers: { "svc-api-key": key } }],
  [201, { method: "POST", url: "/v1/api-keys", headers: { authorization } }],
  [400, { method: "POST", url: "/v1/api-keys", headers: { authorization, ...json }, payload: "{" }],
  [401, { url: "/v1/me" }],
  [403, { url: "/v1/me", headers: { "svc-api-key": without.key } }],
  [404, { url: "/v1/nothing" }],
  [404, { url: "/v1/%zz" }],
  [
    413,
    {
      method: "POST",
      url: "/v1/api-keys",
      headers: { authorization, ...json },
      payload: "x".repeat(1_048_577),
    },
  ],
  [500, { url: "/v1/breaks" }],
] as const;

for (const [status, request] of requests) {
  test(`${status} on ${request.url} carries the security, rate, request id and idempotency headers`, async () => {
    const answer = await app.inject({ remoteAddress: `198.51.100.${status % 200}`, ...request });
    assert.equal(answer.statusCode, status, answer.body);
    for (const [name, value] of Object.entries(security))
      assert.equal(answer.headers[name], value, name);
    assert.match(String(answer.headers["x-ratelimit-limit"]), /^\d+$/);
    assert.match(String(answer.headers["x-ratelimit-remaining"]), /^\d+$/);
    const reset = String(answer.headers["x-ratelimit-reset"]);
    assert.equal(new Date(reset).toISOString(), reset);
    assert.match(
      String(answer.headers["x-ratelimit-tier"]),
      /^(default|authenticated|premium|admin)$/,
    );
    assert.ok(String(answer.headers["x-request-id"]).length > 0);
    if (request.url !== "/v1/%zz") assert.ok(String(answer.headers["idempotency-key"]).length > 0);
  });
}

test("a client's request id is echoed; one that can't be kept is replaced", async () => {
  const echo = async (id: string) =>
    (await app.inject({ url: "/health", headers: { "x-request-id": id } })).headers["x-request-id"];
  assert.equal(await echo("order-7/retry 2"), "order-7/retry 2");
  assert.equal(await echo("x".repeat(200)), "x".repeat(200));
  for (const bad of ["x".repeat(201), "caf\u00e9", "a\tb", "\u001b[31m"]) {
    assert.match(String(await echo(bad)), /^[0-9a-f-]{36}$/);
  }
});

test("an explicit idempotency key is echoed; without one it follows from request id and body", async () => {
  const ask = async (headers: Record<string, string>) =>
    (await app.inject({ url: "/v1/me", headers: { "svc-api-key": key, ...headers } })).headers[
      "idempotency-key"
    ];
  assert.equal(await ask({ "idempotency-key": "mine" }), "mine");
  assert.equal(await ask({ "x-request-id": "a" }), await ask({ "x-request-id": "a" }));
  assert.notEqual(await ask({ "x-request-id": "a" }), await ask({ "x-request-id": "b" }));
});

test("an idempotency key of 256 characters or with control characters is refused and not echoed", async () => {
  for (const bad of ["x".repeat(256), "caf\u00e9", "a\tb"]) {
    const answer = await app.inject({
      method: "POST",
      url: "/v1/api-keys",
      headers: { authorization, "idempotency-key": bad },
    });
    assert.equal(answer.statusCode, 400);
    assert.notEqual(answer.headers["idempotency-key"], bad);
  }
});
