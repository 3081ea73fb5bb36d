import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createTcpServer } from "node:net";
import type { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { test } from "node:test";
import { inspect } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { pino } from "pino";
import { createOutbound } from "./index.ts";
import type { DownloadOptions } from "./index.ts";
import { failureOf, leavesNothing, listen, serve } from "./serve.testing.ts";

const lines: string[] = [];
const log = pino({ level: "trace" }, { write: (line: string) => lines.push(line) });
const { download } = createOutbound({ log });
const limits = { maxBytes: 100_000, totalMs: 5_000, idleMs: 5_000, isGuarded: false };

const bodyOf = async (url: string, options: Partial<DownloadOptions> = {}): Promise<Readable> =>
  (await download(url, { ...limits, ...options })).body;

const textOf = async (url: string, options: Partial<DownloadOptions> = {}): Promise<string> =>
  await text(await bodyOf(url, options));

/** Answers every request with these bytes, and then hangs up. */
async function say(answer: string | Buffer): Promise<string> {
  const server = createTcpServer((socket) => socket.once("data", () => socket.end(answer)));
  return `http://127.0.0.1:${await listen(server)}/`;
}

test("a file comes with its status, its headers and its last address", async () => {
  const url = await serve((_request, response) =>
    response.writeHead(203, { "X-Kind": "a", "content-length": 4 }).end("file"),
  );
  const { body, headers, ...rest } = await download(`${url}/a?b#c`, limits);
  assert.deepEqual(rest, { url: `${url}/a?b`, status: 203 });
  assert.deepEqual([headers["x-kind"], headers["content-length"]], ["a", "4"]);
  assert.equal(await text(body), "file");
});

test("redirects are followed, and headers go to the first address alone", async () => {
  const seen: unknown[] = [];
  const url = await serve(({ url = "", headers }, response) => {
    seen.push([url, headers.authorization, headers.cookie]);
    const hop = Number(url.slice(1));
    const status = [301, 302, 303, 307, 308][hop];
    if (!status) return response.end("here");
    return response.writeHead(status, { location: `./${hop + 1}`, "set-cookie": "a=b" }).end("no");
  });
  const headers = { authorization: "Bearer a", cookie: "c=d" };
  assert.equal(await textOf(`${url}/0`, { headers }), "here");
  const rest = [1, 2, 3, 4, 5].map((hop) => [`/${hop}`, undefined, undefined]);
  assert.deepEqual(seen, [["/0", "Bearer a", "c=d"], ...rest]);
});

test("a redirect's connection is closed before its target is read", async () => {
  let isClosed: Promise<unknown> | undefined;
  const url = await serve(({ url }, response) => {
    if (url === "/file") return response.write("begin");
    isClosed = once(response, "close");
    return response.writeHead(302, { location: "/file" }).write("endless");
  });
  const body = await bodyOf(url);
  await isClosed;
  assert.equal(body.destroyed, false);
  body.destroy();
});

test("a sixth redirect, a circle and a redirect to nowhere are not followed", async () => {
  let asked = 0;
  const url = await serve(({ url = "" }, response) => {
    asked += 1;
    const [, kind, hop] = url.split("/");
    const next: Record<string, string> = {
      chain: `/chain/${Number(hop) + 1}`,
      circle: `/circle/${1 - Number(hop)}#again`,
      file: "file:///etc/hostname",
      user: "http://user:word@127.0.0.1/",
      broken: "http://[",
    };
    response.writeHead(302, { location: next[kind ?? ""] }).end();
  });
  await failureOf(bodyOf(`${url}/chain/0`), "redirects");
  assert.equal(asked, 6);
  await failureOf(bodyOf(`${url}/chain/0`, { maxRedirects: 0 }), "redirects");
  await failureOf(bodyOf(`${url}/circle/0`), "redirects");
  assert.equal(asked, 9);
  for (const kind of ["file", "user", "broken"]) {
    await failureOf(bodyOf(`${url}/${kind}`), "address");
  }
});

test("any status but 2xx is a failure that says which", async () => {
  for (const status of [300, 304, 302, 400, 404, 429, 500]) {
    const url = await serve((_request, response) => response.writeHead(status).end("x"));
    assert.equal((await failureOf(bodyOf(url), "status")).status, status);
  }
});

test("a body is decoded, and one that can't be is a failure", async () => {
  const plain = Buffer.from("é".repeat(1_000));
  const forms = {
    gzip: gzipSync,
    "X-GZIP": gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
  };
  for (const [name, encode] of Object.entries(forms)) {
    const whole = encode(plain);
    const url = await serve(({ url }, response) => {
      response.setHeader("content-encoding", name);
      if (url === "/whole") response.end(whole);
      else if (url === "/half") response.end(whole.subarray(0, whole.length - 5));
      else response.end("no such thing at all");
    });
    assert.deepEqual(await buffer(await bodyOf(`${url}/whole`)), plain);
    await failureOf(textOf(`${url}/half`), "cut");
    await failureOf(textOf(`${url}/none`), "encoding");
  }
  const odd = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(),
  );
  await failureOf(bodyOf(odd), "encoding");
});

test("a body without its end is never a whole one", async () => {
  const head = "HTTP/1.1 200 OK\r\n";
  await failureOf(textOf(await say(`${head}Content-Length: 10\r\n\r\nhalf`)), "cut");
  await failureOf(textOf(await say(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf`)), "cut");
  await failureOf(
    textOf(await say(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n`)),
    "cut",
  );
  const reset = await serve((request, response) => {
    response.write("half", () => request.socket.resetAndDestroy());
  });
  await failureOf(textOf(reset), "cut");
});

test("what follows the declared length is not read, and an empty body is one", async () => {
  const url = await say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfileHTTP/1.1 200 OK\r\n\r\nx");
  assert.equal(await textOf(url), "file");
  assert.equal(await textOf(await say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")), "");
});

test("an answer that is not HTTP, a refused connection and an unusable address are told apart", async () => {
  await failureOf(bodyOf(await say("220 hello\r\n")), "network");
  const refused = await failureOf(bodyOf("http://127.0.0.1:1/"), "network");
  assert.equal(refused.wasSent, false);
  for (const url of ["no address", "file:///etc/hostname", "http://user:word@127.0.0.1/"]) {
    assert.equal((await failureOf(bodyOf(url), "address")).wasSent, false);
  }
});

test("giving a body up closes its connection, read or not", async () => {
  let isClosed: Promise<unknown> | undefined;
  const url = await serve((_request, response) => {
    isClosed = once(response, "close");
    response.write("begin");
  });
  await leavesNothing(async () => {
    const body = await bodyOf(url);
    body.destroy();
    await isClosed;
    const read = await bodyOf(url);
    await once(read, "data");
    read.destroy();
    await isClosed;
  });
});

test("the caller's signal ends a download before, between and after the headers", async () => {
  const url = await serve(({ url }, response) => {
    if (url === "/begin") response.write("begin");
  });
  const { signal } = new AbortController();
  await leavesNothing(async () => {
    await failureOf(bodyOf(url, { signal: AbortSignal.abort() }), "aborted");
    await failureOf(bodyOf(url, { signal: AbortSignal.timeout(50) }), "aborted");
    const body = await bodyOf(`${url}/begin`, { signal: AbortSignal.timeout(50) });
    await failureOf(text(body), "aborted");
    const stuck = createOutbound({ log, connect: () => {} });
    const options = { ...limits, signal: AbortSignal.timeout(50) };
    await failureOf(stuck.download(url, options), "aborted");
    assert.equal(signal.aborted, false);
  });
});

test("a body that nobody listens to harms nobody when it fails", async () => {
  const body = await bodyOf(await say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
  await new Promise((closed) => body.resume().once("close", closed));
  assert.ok(body.errored);
  await failureOf(text(body), "cut");
});

test("no secret of a download is logged or told", async () => {
  const secret = "canary-5d1e";
  const url = await serve(({ url = "" }, response) => {
    const location = url.startsWith("/user") ? `http://a:${secret}@b/` : `/1?${secret}`;
    response.writeHead(url.startsWith("/1") ? 404 : 302, { location }).end(secret);
  });
  const headers = { authorization: secret };
  const told = [
    await failureOf(bodyOf(`${url}/0?${secret}`, { headers }), "status"),
    await failureOf(bodyOf(`${url}/user?${secret}`, { headers }), "address"),
    await failureOf(bodyOf(`http://127.0.0.1:1/?${secret}`), "network"),
    await failureOf(bodyOf(`http://${secret}:a@127.0.0.1/`), "address"),
    await failureOf(bodyOf(url, { headers: { a: `b\n${secret}` } }), "request"),
  ];
  assert.ok(lines.length >= told.length);
  assert.doesNotMatch(lines.join("") + inspect(told, { depth: 10 }), new RegExp(secret));
});
