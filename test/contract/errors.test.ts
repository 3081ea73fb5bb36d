import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { AppError, statusOfCode } from "../../src/errors.ts";
import type { ErrorCode } from "../../src/errors.ts";
import { createTestUser, testApp } from "../helpers/app.ts";

const { app, db } = await testApp();
const { key } = await createTestUser(db);
const headers = { "svc-api-key": key };

// Stand-ins for what a room's handler does: it throws, and the service answers.
app.get<{ Params: { code: ErrorCode } }>(
  "/v1/throws/:code",
  { config: { credential: "apiKey" } },
  (request) => {
    throw new AppError(request.params.code, "as thrown");
  },
);
app.get("/v1/breaks", () => {
  throw new Error("secret inside: password=hunter2");
});
app.post(
  "/v1/takes",
  {
    schema: {
      body: z.strictObject({
        post: z.strictObject({ content: z.strictObject({ platform: z.string() }) }),
        when: z.iso.datetime().optional(),
      }),
    },
  },
  () => ({}),
);

interface Body {
  error: {
    type: string;
    code: string;
    message: string;
    timestamp: string;
    requestId: string;
    details?: { field: string; message: string; code: string; received?: string }[];
    debug?: unknown;
  };
}

const types: Record<number, string> = { 401: "authentication_error", 403: "authentication_error" };

for (const [code, status] of Object.entries(statusOfCode)) {
  test(`${code} is answered with ${status} and the contract's body`, async () => {
    const answer = await app.inject({
      url: `/v1/throws/${code}`,
      headers: { ...headers, "x-request-id": "my-id" },
    });
    const { error } = answer.json<Body>();
    assert.equal(answer.statusCode, status);
    assert.equal(
      error.type,
      types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error"),
    );
    assert.deepEqual([error.code, error.message, error.requestId], [code, "as thrown", "my-id"]);
    assert.equal(new Date(error.timestamp).toISOString(), error.timestamp);
    assert.equal("debug" in error, false);
  });
}

test("an unexpected failure is 500 internal_error and tells nothing of its cause", async () => {
  const answer = await app.inject({ url: "/v1/breaks", headers });
  assert.equal(answer.statusCode, 500);
  assert.equal(answer.json<Body>().error.code, "internal_error");
  assert.ok(!/hunter2|at |\.ts/.test(answer.body));
});

test("an unknown route is 404 not_found, below every root", async () => {
  for (const url of [
    "/v1/nothing",
    "/nothing",
    "/api/nothing",
    "/functions/nothing",
    "/v1/me/more",
  ]) {
    const answer = await app.inject({ url, headers });
    assert.deepEqual([answer.statusCode, answer.json<Body>().error.code], [404, "not_found"], url);
  }
});

async function take(payload: unknown) {
  const answer = await app.inject({
    method: "POST",
    url: "/v1/takes",
    headers,
    payload: payload as object,
  });
  return { status: answer.statusCode, error: answer.json<Body>().error };
}

test("a wrong type is named by its path, with the contract's code and what was received", async () => {
  const { status, error } = await take({ post: { content: { platform: 7 } } });
  assert.deepEqual([status, error.code], [400, "validation_error"]);
  const [detail] = error.details ?? [];
  assert.deepEqual(
    [detail?.field, detail?.code, detail?.received],
    ["body.post.content.platform", "invalid_type", "number"],
  );
});

test("a wrong string format has the code invalid_string", async () => {
  const { error } = await take({ post: { content: { platform: "x" } }, when: "tomorrow" });
  assert.deepEqual(
    [error.details?.[0]?.field, error.details?.[0]?.code],
    ["body.when", "invalid_string"],
  );
});

test("a field in the wrong place is refused by its own path", async () => {
  const { error } = await take({
    post: { content: { platform: "x" }, when: "2030-01-01T00:00:00Z" },
  });
  assert.deepEqual(
    [error.details?.[0]?.field, error.details?.[0]?.code],
    ["body.post.when", "unrecognized_keys"],
  );
});

test("every problem is named at once", async () => {
  const { error } = await take({ when: 3, other: 1 });
  assert.deepEqual(error.details?.map((detail) => detail.field).sort(), [
    "body.other",
    "body.post",
    "body.when",
  ]);
});

test("in development mode, and only there, the body shows where it broke", async () => {
  const development = await testApp({ NODE_ENV: "development" });
  development.app.get("/v1/breaks", () => {
    throw new Error("broken");
  });
  const answer = await development.app.inject({ url: "/v1/breaks" });
  assert.match(JSON.stringify(answer.json<Body>().error.debug), /broken/);
});
