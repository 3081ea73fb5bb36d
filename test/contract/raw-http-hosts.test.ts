import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../helpers/app.ts";
import { get } from "../helpers/cases/raw.ts";
import { hostileApp } from "../helpers/hostile.ts";
import { connectRaw } from "../helpers/raw-http.ts";
import type { RawAnswer } from "../helpers/raw-http.ts";

const { app, secrets, judge } = await hostileApp();
const url = await app.listen({ port: 0, host: "127.0.0.1" });

async function ask(to: string, bytes: string): Promise<RawAnswer> {
  const connection = await connectRaw(to);
  connection.send(bytes);
  return await connection.next().finally(connection.hangUp);
}

test("a request without a Host is refused like every other bad request", async () => {
  judge({ method: "", path: null, secrets }, await ask(url, "GET /health HTTP/1.1\r\n\r\n"));
});

test("two Hosts, or one that is no host, are refused: RFC 9112, 3.2", async (t) => {
  for (const line of ["a\r\nHost: b", "a b", "a/b", "a@b", "[::1", "a,b", "caf\u00e9", "a?b"]) {
    await t.test(JSON.stringify(`Host: ${line}`), async () => {
      const answer = await ask(url, get("/health", `Host: ${line}\r\n`));
      assert.equal(answer.status, 400);
      judge({ method: "", path: null, secrets }, answer);
    });
  }
});

test("a part of the service on a host of its own answers there, in every spelling, and nowhere else", async (t) => {
  const settings = { BASE_URL: "http://api.example", WEB_URL: "http://web.example:8080" };
  const { app: split } = await testApp({ ...settings, RATE_LIMIT_DEFAULT_MAX: "1000" });
  const to = await split.listen({ port: 0, host: "127.0.0.1" });
  const rows = [
    ["api.example", "/health", 200],
    ["API.Example", "/health", 200],
    ["api.example:80", "/health", 200],
    ["web.example:8080", "/api/auth/jwks", 200],
    ["WEB.example:8080", "/api/auth/jwks", 200],
    ["web.example", "/api/auth/jwks", 404],
    ["web.example:8080", "/health", 404],
    ["api.example", "/api/auth/jwks", 404],
    ["api.example.", "/api/auth/jwks", 404],
    ["127.0.0.1", "/health", 404],
    ["__proto__", "/health", 404],
    ["constructor", "/health", 404],
    ["elsewhere.example", "/livez", 200],
  ] as const;
  for (const [host, path, status] of rows) {
    await t.test(`${path} at ${host}: ${status}`, async () => {
      assert.equal((await ask(to, get(path, `Host: ${host}\r\n`))).status, status);
    });
  }
});
