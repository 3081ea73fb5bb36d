import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { METHODS } from "node:http";
import { test } from "node:test";
import { pino } from "pino";
import { get, host, postWith } from "../helpers/cases/raw.ts";
import { hostileApp } from "../helpers/hostile.ts";
import { connectRaw } from "../helpers/raw-http.ts";
import type { RawAnswer } from "../helpers/raw-http.ts";
import { changedTables } from "../helpers/traces.ts";
import { isIdle, until } from "../helpers/until.ts";

const lines: string[] = [];
const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
const settings = { TRUST_PROXY: "127.0.0.1", RATE_LIMIT_DEFAULT_WINDOW: "60000" };
const { app, deps, token, secrets, look, judge } = await hostileApp(settings, log);
const url = await app.listen({ port: 0, host: "127.0.0.1" });
const post = postWith(token);
const broken = "BROKEN\r\n\r\n";

async function ask(bytes: string): Promise<RawAnswer> {
  const connection = await connectRaw(url);
  connection.send(bytes);
  return await connection.next().finally(connection.hangUp);
}

/** For what never became a request of a route. */
const judgeRefusal = (answer: RawAnswer): void =>
  judge({ method: "", path: null, secrets }, answer);

test("an expectation that can't be met is refused like every other bad request", async () => {
  judgeRefusal(await ask(post("Content-Length: 2\r\nExpect: a-miracle\r\n", "{}")));
});

test("no method makes a request a failure of ours", async (t) => {
  const bodies = [
    "",
    "Content-Length: 2\r\n",
    "Content-Length: 2\r\nContent-Type: application/json\r\n",
  ];
  for (const method of METHODS.filter((each) => each !== "CONNECT" && each !== "HEAD")) {
    await t.test(method, async () => {
      for (const path of ["/v1/nothing", "/v1/me", "/api/auth/token"]) {
        for (const headers of bodies) {
          const body = headers ? "{}" : "";
          const answer = await ask(`${method} ${path} HTTP/1.1\r\n${host}${headers}\r\n${body}`);
          assert.ok(answer.status < 500, `${path} ${headers}: ${answer.status} ${answer.body}`);
          judge({ method, path, secrets }, answer);
        }
      }
    });
  }
});

test("what a trusted proxy says of the client is no failure of ours, even if it is no address", async (t) => {
  const random = Array.from({ length: 200 }, (_, i) => hash("sha256", String(i))).join("");
  const claims = [
    "",
    "x",
    "caf\u00e9",
    "999.1.1.1",
    "1.2.3.4:80",
    "::1%eth0",
    "_hidden",
    "unknown",
    "a".repeat(3_000),
  ];
  for (const claimed of [...claims, random, `x, ${random}`, "127.0.0.1, 127.0.0.1", ",,,"]) {
    await t.test(JSON.stringify(claimed.slice(0, 20)), async () => {
      const answer = await ask(get("/health", `${host}X-Forwarded-For: ${claimed}\r\n`));
      assert.equal(answer.status, 200, answer.body);
      judge({ method: "GET", path: "/health", secrets }, answer);
    });
  }
});

test("a request that is carried out is answered, whatever follows it on the connection", async () => {
  const unanswered: number[] = [];
  for (let i = 0; i < 20; i++) {
    const before = await look();
    const connection = await connectRaw(url);
    connection.send(post("Content-Length: 2\r\n", "{}") + broken);
    const { status } = await connection.next();
    await connection.closed();
    // What was begun goes on without its connection: it is over when a later call is through and all is idle.
    assert.equal((await ask(post("Content-Length: 1\r\n", "x"))).status, 400);
    await until(() => isIdle(deps.db));
    if (status !== 201 && changedTables(before, await look()).length > 0) unanswered.push(i);
  }
  assert.deepEqual(unanswered, [], "the tries that made a key and were told otherwise");
});

test("an answer to a broken request reaches a client that is still sending", async () => {
  const lost: number[] = [];
  for (let i = 0; i < 20; i++) {
    const answer = await ask(get("/health", `${host}X: ${"a".repeat(6_000_000)}\r\n`)).catch(
      () => null,
    );
    if (answer?.status !== 431) lost.push(i);
  }
  assert.deepEqual(lost, [], "the tries whose answer was lost");
});

test("an answer to a body that is too large reaches a client that is still sending", async () => {
  const lost: number[] = [];
  for (let i = 0; i < 20; i++) {
    const answer = await ask(post("Content-Length: 9000000\r\n", "x".repeat(9_000_000))).catch(
      () => null,
    );
    if (answer?.status !== 413) lost.push(i);
  }
  assert.deepEqual(lost, [], "the tries whose answer was lost");
});

test("one broken request counts once, in however many parts it comes", async () => {
  const left = async (): Promise<number> =>
    Number((await ask(broken)).headers["x-ratelimit-remaining"]);
  const before = await left();
  const connection = await connectRaw(url);
  for (let i = 0; i < 50; i++) {
    connection.send(`GET /health HTTP/1.1\r\n${host}X: ${"a".repeat(20_000)}`);
    await new Promise(setImmediate);
  }
  await connection.closed();
  assert.equal(before - (await left()), 2, "the one in parts, and the one that asks");
});

test("every error can be found in the log by its request id", async (t) => {
  const large = get("/health", `${host}X: ${"a".repeat(20_000)}\r\n`);
  const requests = {
    "404": get("/nothing"),
    "401": get("/v1/me"),
    "404 of a malformed address": get("/%zz"),
  };
  for (const [name, bytes] of Object.entries({
    ...requests,
    "400 of broken HTTP": broken,
    "431": large,
  })) {
    await t.test(name, async () => {
      const id = (await ask(bytes)).headers["x-request-id"] ?? "";
      const found = lines.filter((line) => line.includes(id));
      assert.equal(found.length, 1, "one line");
    });
  }
});

test("a line of the log stays one line, whatever the client calls its request", async () => {
  lines.length = 0;
  for (const id of ['x"}{"level":60,"msg":"forged', "\\n\\r", "%0a", "caf\u00e9", "a\tb", "'"])
    await ask(get("/health", `${host}X-Request-ID: ${id}\r\n`));
  assert.equal(lines.length, 6);
  for (const line of lines) {
    assert.equal(line.trimEnd().includes("\n"), false);
    assert.equal((JSON.parse(line) as { msg: string }).msg, "request");
  }
});
