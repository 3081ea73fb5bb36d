import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { pino } from "pino";
import { createTestUser, testApp } from "../helpers/app.ts";
import { signUp } from "../helpers/tokens.ts";

let written = "";
const log = pino(
  { level: "trace" },
  new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  }),
);

test("one line per request, and no credential, body, query or cookie in it", async () => {
  const { app, db, config } = await testApp({}, log);
  app.get("/v1/breaks", () => {
    throw new Error("broken");
  });
  const { key, keyId } = await createTestUser(db);
  const { token } = await signUp(app, config.urls.web);
  written = "";
  const canary = "canary-7f3a";
  const headers = {
    "svc-api-key": key,
    authorization: `Bearer ${token}`,
    cookie: `__session=${canary}`,
  };
  await app.inject({ url: `/v1/me?secret=${canary}`, headers });
  await app.inject({ url: "/v1/me", headers: { "svc-api-key": `sk_live_${canary}` } });
  await app.inject({ url: `/v1/${canary}`, headers });
  await app.inject({ url: "/v1/breaks", headers });
  await app.inject({ method: "POST", url: "/v1/api-keys", headers, payload: { name: canary } });
  await app.inject({ method: "POST", url: "/v1/api-keys", headers, payload: { [canary]: 1 } });
  const lines = written
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { msg: string; err?: unknown });
  assert.equal(lines.filter(({ msg }) => msg === "request").length, 6);
  assert.equal(lines.filter(({ err }) => err !== undefined).length, 1);
  for (const secret of [key, token, canary, "broken.session"])
    assert.ok(!written.includes(secret), secret);
  assert.ok(!written.includes(keyId));
});
