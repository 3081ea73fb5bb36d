import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { createOutbound, OutboundError } from "./index.ts";
import type { OutboundFailure } from "./index.ts";

const lines: string[] = [];
const log = pino({ level: "trace" }, { write: (line: string) => lines.push(line) });
const { fetchJson } = createOutbound({ log });
const limits = { timeoutMs: 2_000, maxBytes: 1_000 };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failureOf(call: Promise<unknown>, failure: OutboundFailure): Promise<OutboundError> {
  const error = await call.then(
    () => assert.fail("the call succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof OutboundError);
  assert.equal(error.failure, failure);
  return error;
}

test("JSON comes back, and method, headers and body go out", async () => {
  const url = await serve((request, response) => {
    request.setEncoding("utf8").once("data", (body) => {
      response.end(JSON.stringify([request.method, request.headers["x-a"], body]));
    });
  });
  const answer = await fetchJson(url, {
    ...limits,
    method: "POST",
    headers: { "x-a": "1" },
    body: "hello",
  });
  assert.deepEqual(answer, ["POST", "1", "hello"]);
});

test("a refusal carries its status and the beginning of what was said", async () => {
  const url = await serve((_request, response) => response.writeHead(503).end("x".repeat(100_000)));
  const error = await failureOf(fetchJson(url, limits), "status");
  assert.equal(error.status, 503);
  assert.equal(error.body?.length, 500);
});

test("a redirect is not followed", async () => {
  let asked = 0;
  const target = await serve((_request, response) => {
    asked += 1;
    response.end("{}");
  });
  const url = await serve((_request, response) =>
    response.writeHead(302, { location: target }).end(),
  );
  assert.equal((await failureOf(fetchJson(url, limits), "status")).status, 302);
  assert.equal(asked, 0);
});

test("an answer without end is cut off at the cap", async () => {
  let isClosed: Promise<unknown> | undefined;
  const url = await serve((_request, response) => {
    isClosed = once(response, "close");
    const pour = (): void => {
      while (response.write("x".repeat(1_000)));
      response.once("drain", pour);
    };
    pour();
  });
  await failureOf(fetchJson(url, { ...limits, maxBytes: 100_000 }), "too_large");
  await isClosed;
});

test("the cap counts decompressed bytes", async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000, " "));
  const url = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
  );
  assert.ok(bomb.length < 20_000);
  await failureOf(fetchJson(url, { ...limits, maxBytes: 20_000 }), "too_large");
});

test("an answer of exactly the cap is read", async () => {
  const text = JSON.stringify("é".repeat(499));
  assert.equal(Buffer.byteLength(text), 1_000);
  const url = await serve((_request, response) => response.end(text));
  assert.equal(await fetchJson(url, limits), "é".repeat(499));
});

test("one deadline covers the wait for an answer and the reading of it", async () => {
  const silent = await serve(() => {});
  await failureOf(fetchJson(silent, { ...limits, timeoutMs: 50 }), "timeout");
  const trickling = await serve((_request, response) => {
    const drip = setInterval(() => response.write(" "), 5);
    response.once("close", () => clearInterval(drip));
  });
  await failureOf(fetchJson(trickling, { ...limits, timeoutMs: 50 }), "timeout");
});

test("what is not JSON, and who is not there, are failures of their own", async () => {
  const url = await serve((_request, response) => response.end("<html>"));
  assert.equal((await failureOf(fetchJson(url, limits), "not_json")).body, "<html>");
  await failureOf(fetchJson("http://127.0.0.1:1/", limits), "network");
  await failureOf(fetchJson("no address", limits), "address");
});

test("no secret of a call is logged or told", async () => {
  const url = await serve((_request, response) => response.writeHead(401).end("no"));
  const secret = "canary-7f3a";
  const call = fetchJson(`${url}/path?token=${secret}#${secret}`, {
    ...limits,
    method: "POST",
    headers: { authorization: secret },
    body: secret,
  });
  const error = await failureOf(call, "status");
  assert.match(error.message, /POST http:.*\/path answered 401/);
  const told = [
    error,
    await failureOf(fetchJson(`http://user:${secret}@127.0.0.1:1/`, limits), "address"),
    await failureOf(fetchJson(`/${secret}`, limits), "address"),
    await failureOf(fetchJson(`http://127.0.0.1:1/?${secret}`, limits), "network"),
  ];
  assert.ok(lines.length >= told.length);
  assert.doesNotMatch(lines.join("") + inspect(told, { depth: 10 }), new RegExp(secret));
});
