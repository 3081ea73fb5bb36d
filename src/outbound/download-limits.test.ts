import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { buildConnector } from "undici";
import { createOutbound } from "./index.ts";
import type { Connect, DownloadOptions } from "./index.ts";
import { failureOf, leavesNothing, serve } from "./serve.testing.ts";

const log = pino({ level: "silent" });
const limits = { maxBytes: 100_000, totalMs: 30_000, idleMs: 30_000, isGuarded: false };
const tolerance = 64 * 1024;

const sockets: Socket[] = [];
const opener = buildConnector({ allowH2: false });
const connect: Connect = ({ addresses: _addresses, ...target }, callback) =>
  opener(target, (...[error, socket]) => {
    if (error) return callback(error, null);
    sockets.push(socket);
    return callback(null, socket);
  });
const { download } = createOutbound({ log, connect });

const bodyOf = async (url: string, options: Partial<DownloadOptions> = {}): Promise<Readable> =>
  (await download(url, { ...limits, ...options })).body;

async function sizeOf(body: Readable): Promise<number> {
  let sizeBytes = 0;
  body.on("data", (chunk: Buffer) => (sizeBytes += chunk.length));
  await new Promise((closed) => body.once("error", () => {}).once("close", closed));
  return sizeBytes;
}

function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(Buffer.alloc(16_384)));
  response.once("drain", () => pour(response));
}

function drip(response: ServerResponse, sizeBytes: number, everyMs: number): void {
  const timer = setInterval(() => response.write(Buffer.alloc(sizeBytes)), everyMs);
  response.once("close", () => clearInterval(timer));
}

test("200 endless downloads at once are each cut at the cap, and leave nothing", async () => {
  const maxBytes = 1_000_000;
  const url = await serve((_request, response) => pour(response));
  await text(await bodyOf(await serve((_request, response) => response.end())));
  sockets.length = 0;
  await leavesNothing(async () => {
    const sizes = await Promise.all(
      Array.from({ length: 200 }, async () => await sizeOf(await bodyOf(url, { maxBytes }))),
    );
    assert.equal(
      sizes.filter((size) => size <= maxBytes && size > maxBytes - tolerance).length,
      200,
    );
  });
  const read = sockets.map((socket) => socket.bytesRead);
  assert.equal(read.filter((sizeBytes) => sizeBytes > maxBytes - tolerance).length, 200);
  assert.ok(Math.max(...read) <= maxBytes + tolerance, `${Math.max(...read)} bytes were read`);
});

test("a reader that stands still makes the other side wait", async () => {
  const url = await serve((_request, response) => pour(response));
  sockets.length = 0;
  const body = await bodyOf(url, { maxBytes: 100_000_000, idleMs: 50, totalMs: 400 });
  await failureOf(once(body, "close"), "timeout");
  assert.ok((sockets[0]?.bytesRead ?? Infinity) < 1_000_000);
});

test("a file of exactly the cap is whole, and one declared larger is not begun", async () => {
  const url = await serve(({ url }, response) => {
    const sizeBytes = Number(url?.slice(1));
    response.writeHead(200, { "content-length": sizeBytes });
    if (sizeBytes <= limits.maxBytes) response.end(Buffer.alloc(sizeBytes));
    else response.flushHeaders();
  });
  assert.equal((await text(await bodyOf(`${url}/100000`))).length, 100_000);
  await leavesNothing(async () => {
    await failureOf(bodyOf(`${url}/100001`), "too_large");
  });
});

test("the cap counts decoded bytes: a bomb of 1:1000 is cut at it", async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  assert.ok(bomb.length < 50_000);
  const url = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
  );
  await leavesNothing(async () => {
    await failureOf(text(await bodyOf(url)), "too_large");
    const size = await sizeOf(await bodyOf(url));
    assert.ok(size <= limits.maxBytes && size > 0);
  });
});

test("100 bytes a second are ended by the idle deadline, or else by the total one", async () => {
  const bursts = await serve((_request, response) => drip(response, 100, 1_000));
  const trickle = await serve((_request, response) => drip(response, 1, 10));
  const silent = await serve(() => {});
  const halfway = await serve((_request, response) => response.write("x"));
  await leavesNothing(async () => {
    const startedAt = performance.now();
    await Promise.all([
      failureOf(bodyOf(bursts, { idleMs: 300 }), "idle"),
      failureOf(bodyOf(silent, { idleMs: 300 }), "idle"),
      failureOf(text(await bodyOf(halfway, { idleMs: 300 })), "idle"),
      failureOf(text(await bodyOf(trickle, { idleMs: 300, totalMs: 900 })), "timeout"),
      failureOf(bodyOf(silent, { totalMs: 300 }), "timeout"),
    ]);
    assert.ok(performance.now() - startedAt < 5_000);
  });
});

test("100 slow hosts do not hold up another download", async () => {
  const slow = await serve((_request, response) => drip(response, 1, 200));
  const quick = await serve((_request, response) => response.end("file"));
  await leavesNothing(async () => {
    const given = new AbortController();
    const { signal } = given;
    const read = async (): Promise<string> => await text(await bodyOf(slow, { signal }));
    const stuck = Array.from({ length: 100 }, async () => await failureOf(read(), "aborted"));
    const startedAt = performance.now();
    assert.equal(await text(await bodyOf(quick)), "file");
    assert.ok(performance.now() - startedAt < 2_000);
    given.abort();
    await Promise.all(stuck);
  });
});

test("the deadline covers the whole chain of redirects", async () => {
  const url = await serve(({ url }, response) => {
    const hop = Number(url?.slice(1));
    setTimeout(() => response.writeHead(302, { location: `/${hop + 1}` }).end(), 150).unref();
  });
  await leavesNothing(async () => {
    await failureOf(bodyOf(`${url}/0`, { totalMs: 400 }), "timeout");
  });
});
