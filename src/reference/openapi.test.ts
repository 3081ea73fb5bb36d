import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { statusOfCode } from "../errors.ts";
import { resolve } from "./openapi-document.ts";
import type { Answer, OpenApiDocument, Operation } from "./openapi-document.ts";
import { errorBodySchema, errorExamples, errorMeanings } from "./openapi-errors.ts";
import { describedApp, sampleRoutes } from "./openapi.testing.ts";
import { documentedRoutes, servedRoutes } from "./openapi.ts";

const { app, document } = await describedApp(sampleRoutes);

function operationAt(path: string, method: string, from: OpenApiDocument = document()): Operation {
  const operation = from.paths[path]?.[method];
  assert.ok(operation, `${method} ${path} is not described`);
  return operation;
}

function codesOf(path: string, method: string): string[] {
  const answers = Object.values(operationAt(path, method).responses);
  return answers.flatMap((answer) => {
    const { content = {} } = resolve<Answer>(document(), answer);
    return Object.keys(content["application/json"]?.examples ?? {});
  });
}

test("what is served and what is described are the same, both ways", () => {
  assert.deepEqual(documentedRoutes(document()), servedRoutes(app));
  assert.deepEqual(servedRoutes(app), [
    "DELETE /v1/posts/{id}",
    "GET /docs",
    "GET /files/{path}",
    "GET /health",
    "GET /livez",
    "GET /openapi.json",
    "GET /v1/posts",
    "POST /rules",
    "POST /v1/posts",
  ]);
  for (const route of documentedRoutes(document())) {
    const [method = "", path = ""] = route.split(" ");
    const url = path.replace("{path}", "*").replace(/\{(\w+)\}/, ":$1");
    assert.ok(app.hasRoute({ method, url }), `${route} is described but not served`);
  }
});

test("a route without documentation is served but not described, so the comparison fails", async () => {
  const half = { tags: ["Half"], summary: "No answer is described" };
  const { app, document } = await describedApp(async (scope) => {
    scope.get("/bare", async () => ({}));
    scope.get("/half", { schema: half }, async () => ({}));
  });
  const described = new Set(documentedRoutes(document()));
  const missing = servedRoutes(app).filter((route) => !described.has(route));
  assert.deepEqual(missing, ["GET /bare", "GET /half"]);
});

test("a scope's own hook may still hide its routes", async () => {
  const { app } = await describedApp(async (scope) => {
    scope.addHook("onRoute", (route) => {
      route.config = { ...route.config, isUndocumented: true };
    });
    scope.get("/page", async () => ({}));
  });
  assert.deepEqual(servedRoutes(app), ["GET /docs", "GET /openapi.json"]);
});

test("every code has one sentence and an example that fits the error body", () => {
  assert.deepEqual(Object.keys(errorMeanings).sort(), Object.keys(statusOfCode).sort());
  for (const [code, meaning] of Object.entries(errorMeanings)) {
    assert.match(meaning, /^[A-Z].*[^.]\.$/, code);
    assert.equal(errorBodySchema.parse(errorExamples[code]?.value).error.code, code);
  }
});

test("the errors of an operation follow from what its route is", () => {
  const common = [
    "validation_error",
    "payload_too_large",
    "request_timeout",
    "headers_too_large",
    "internal_error",
    "service_unavailable",
  ];
  const expected: [string, string, string[]][] = [
    ["/livez", "get", []],
    ["/health", "get", ["rate_limit_exceeded"]],
    ["/v1/posts", "get", ["rate_limit_exceeded"]],
    ["/v1/posts/{id}", "delete", ["unauthorized", "not_found", "rate_limit_exceeded"]],
    ["/rules", "post", ["rate_limit_exceeded"]],
    [
      "/v1/posts",
      "post",
      [
        "missing_integrations",
        "unauthorized",
        "forbidden",
        "idempotency_conflict",
        "rate_limit_exceeded",
      ],
    ],
  ];
  for (const [path, method, codes] of expected) {
    assert.deepEqual(
      codesOf(path, method).sort(),
      [...codes, ...common].sort(),
      `${method} ${path}`,
    );
  }
});

test("errors that are really answered have the described status, code and shape", async () => {
  const requests = [
    { method: "POST", url: "/v1/posts", payload: { text: 1 }, path: "/v1/posts" },
    { method: "POST", url: "/v1/posts", payload: { text: "x".repeat(2 ** 20) }, path: "/v1/posts" },
    { method: "DELETE", url: "/v1/posts/none", path: "/v1/posts/{id}" },
    { method: "DELETE", url: `/v1/posts/${"x".repeat(600)}`, path: "/v1/posts/{id}" },
    {
      method: "GET",
      url: "/livez",
      path: "/livez",
      headers: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, "1"])),
    },
  ] as const;
  const statuses = await Promise.all(
    requests.map(async ({ path, ...request }) => {
      const reply = await app.inject(request);
      const { error } = errorBodySchema.parse(reply.json());
      assert.ok(
        codesOf(path, request.method.toLowerCase()).includes(error.code),
        `${path} ${error.code}`,
      );
      assert.equal(statusOfCode[error.code], reply.statusCode);
      return reply.statusCode;
    }),
  );
  assert.deepEqual(statuses, [400, 413, 400, 404, 431]);
});

test("requests are described as they are sent, answers as they are received", () => {
  const { requestBody, responses } = operationAt("/v1/posts", "post");
  const body = requestBody?.content["application/json"]?.schema;
  assert.equal(requestBody?.required, true);
  assert.deepEqual(body?.required, ["text", "platform"]);
  assert.equal(body?.additionalProperties, false);
  const { schemas } = document().components;
  assert.equal(schemas["TargetInput"]?.additionalProperties, false);
  assert.equal(schemas["Target"]?.additionalProperties, undefined);
  const created = responses["201"] as Answer;
  assert.deepEqual(created.content?.["application/json"]?.schema.properties?.["target"], {
    $ref: "#/components/schemas/Target",
  });
  assert.deepEqual(schemas["Comment"]?.properties?.["replies"], {
    type: "array",
    items: { $ref: "#/components/schemas/Comment" },
  });
});

test("a status with a shape of its own and errors is described as either", () => {
  const answer = operationAt("/health", "get").responses["503"] as Answer;
  const { schema, examples } = answer.content?.["application/json"] ?? {};
  assert.equal(schema?.anyOf?.length, 2);
  assert.deepEqual(Object.keys(examples ?? {}), ["service_unavailable"]);
  assert.ok(answer.headers["Retry-After"]);
});

test("headers are described where they apply", () => {
  const headersAt = (path: string, method: string) =>
    Object.keys((Object.values(operationAt(path, method).responses)[0] as Answer).headers);
  assert.ok(headersAt("/v1/posts", "post").includes("Idempotency-Replayed"));
  assert.ok(!headersAt("/rules", "post").includes("Idempotency-Replayed"));
  assert.ok(headersAt("/health", "get").includes("X-RateLimit-Tier"));
  assert.ok(!headersAt("/livez", "get").includes("X-RateLimit-Tier"));
  const refs = (path: string) => JSON.stringify(operationAt(path, "post").parameters);
  assert.match(refs("/v1/posts"), /parameters\/Idempotency-Key.*parameters\/X-Request-ID/);
  assert.doesNotMatch(refs("/rules"), /Idempotency-Key/);
});

test("a route that answers on one host only is described with that host", async () => {
  const servers = ["https://api.example.com/herald", "https://app.example.com"];
  const { document } = await describedApp(async (scope) => {
    const schema = { tags: ["App"], summary: "Only there", response: { 200: z.object({}) } };
    scope.get("/there", { constraints: { host: "app.example.com" }, schema }, async () => ({}));
  }, servers);
  assert.deepEqual(document().servers, [
    { url: "https://api.example.com" },
    { url: "https://app.example.com" },
  ]);
  assert.deepEqual(operationAt("/there", "get", document()).servers, [
    { url: "https://app.example.com" },
  ]);
});

test("what can't be described stops the start", async () => {
  const answering = (schema: z.ZodType) =>
    describedApp(async (scope) => {
      scope.get(
        "/odd",
        { schema: { tags: ["Odd"], summary: "Odd", response: { 200: schema } } },
        async () => ({}),
      );
    });
  await assert.rejects(answering(z.date()), /Date cannot be represented/);
  const lone = z.object({
    get inner() {
      return lone.optional();
    },
  });
  await assert.rejects(answering(lone), /getOdd200 holds itself/);
});

test("the document is built once and can't be changed", () => {
  assert.equal(document(), document());
  assert.throws(() => Object.assign(document().info, { title: "other" }), TypeError);
  assert.throws(
    () => Object.assign(operationAt("/health", "get").responses, { 418: {} }),
    TypeError,
  );
});
