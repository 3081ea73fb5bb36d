import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { pino } from "pino";
import { createOutbound } from "../outbound/index.ts";
import { bindCall, PlatformError } from "./index.ts";

const outbound = createOutbound({ log: pino({ level: "silent" }) });
const account = { accountId: "a1", authorUrn: null };
const bound = (timeoutMs = 2_000) =>
  bindCall(outbound, { accessToken: "token-1", account, timeoutMs });

async function serve(
  listener: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function kindOf(act: Promise<unknown>): Promise<PlatformError["kind"]> {
  const error = await act.then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PlatformError, String(error));
  assert.ok(error.cause instanceof Error);
  return error.kind;
}

test("a call carries the account's token, and its content in the asked form", async () => {
  const seen: unknown[] = [];
  const url = await serve(async (request, response) => {
    const { authorization, "content-type": type, "x-a": a } = request.headers;
    seen.push([request.method, authorization, type, a, await text(request)]);
    response.writeHead(201, { "X-Id": "7" }).end("said");
  });
  const { send } = bound();
  const headers = { "x-a": "1" };
  const answer = await send({ method: "POST", url, headers, json: { text: "é\u2028" } });
  assert.deepEqual([answer.status, answer.headers["x-id"], answer.body], [201, "7", "said"]);
  await send({ method: "POST", url, form: { a: "b c&d" } });
  await send({ method: "GET", url, headers: { authorization: "another" } });
  const token = "Bearer token-1";
  assert.deepEqual(seen, [
    ["POST", token, "application/json", "1", '{"text":"é\u2028"}'],
    ["POST", token, "application/x-www-form-urlencoded", undefined, "a=b+c%26d"],
    ["GET", token, undefined, undefined, ""],
  ]);
});

test("at most 64 KiB of an answer are kept", async () => {
  const url = await serve((_request, response) => response.end("x".repeat(1_000_000)));
  assert.equal((await bound().send({ method: "GET", url })).body.length, 65_536);
});

test("what certainly was not sent may be sent again", async () => {
  const url = await serve(() => {});
  // A name too long for any name server to be asked.
  const dead = `http://${"a".repeat(64)}.invalid/`;
  for (const method of ["GET", "POST", "PUT", "DELETE"] as const) {
    assert.equal(await kindOf(bound().send({ method, url: dead })), "retry");
  }
  const broken = bindCall(outbound, { accessToken: "a\nb", account, timeoutMs: 2_000 });
  assert.equal(await kindOf(broken.send({ method: "POST", url, json: {} })), "retry");
});

test("what may have been sent is in doubt, unless it only reads", async () => {
  const url = await serve((request) => {
    if (request.url === "/reset") request.socket.resetAndDestroy();
  });
  for (const path of ["/reset", "/hang"]) {
    const { send } = bound(100);
    assert.equal(await kindOf(send({ method: "POST", url: url + path, json: {} })), "unknown");
    assert.equal(await kindOf(send({ method: "PUT", url: url + path, json: {} })), "unknown");
    assert.equal(await kindOf(send({ method: "DELETE", url: url + path })), "unknown");
    assert.equal(await kindOf(send({ method: "GET", url: url + path })), "retry");
  }
});
