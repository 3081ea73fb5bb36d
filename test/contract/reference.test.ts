import assert from "node:assert/strict";
import { test } from "node:test";
import { documentedRoutes, servedRoutes } from "../../src/reference/index.ts";
import { testApp } from "../helpers/app.ts";

const { app } = await testApp();
await app.ready();

test("every served route is in the OpenAPI file, and every route in the file is served", async () => {
  const document = (await app.inject({ url: "/openapi.json" })).json();
  const served = servedRoutes(app);
  assert.ok(served.includes("DELETE /v1/api-keys/{id}"));
  assert.deepEqual(documentedRoutes(document), served);
  for (const route of served) {
    const [method = "", path = ""] = route.split(" ");
    const url = path.replaceAll(/\{(\w+)\}/g, ":$1");
    assert.ok(app.hasRoute({ method, url }), route);
  }
});

test("the reference page is readable without a script", async () => {
  const page = await app.inject({ url: "/docs" });
  assert.equal(page.statusCode, 200);
  assert.match(String(page.headers["content-type"]), /^text\/html/);
  assert.doesNotMatch(page.body, /<script/i);
  assert.match(page.body, /\/v1\/api-keys/);
});
