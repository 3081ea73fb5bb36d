import assert from "node:assert/strict";
import { createServer as createTlsServer } from "node:https";
import { connect as openTcp } from "node:net";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { createOutbound } from "./index.ts";
import type { Connect } from "./index.ts";
import { selfSigned } from "./self-signed.testing.ts";
import { failureOf, leavesNothing, listen, serve } from "./serve.testing.ts";

const log = pino({ level: "silent" });
const limits = { timeoutMs: 2_000, maxBytes: 1_000 };
const downloadLimits = { maxBytes: 1_000, totalMs: 2_000, idleMs: 2_000, isGuarded: true };
const loopback = (): Promise<string[]> => Promise.resolve(["127.0.0.1"]);

/** A network in which everything is at one port of this machine, and says that it is elsewhere. */
function everythingAt(url: string, remoteAddress?: string): { connect: Connect; opened: Socket[] } {
  const opened: Socket[] = [];
  const connect: Connect = (_target, callback) => {
    const socket = openTcp(Number(new URL(url).port), "127.0.0.1");
    if (remoteAddress) Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
    opened.push(socket);
    socket.once("connect", () => callback(null, socket));
  };
  return { connect, opened };
}

test("a name is resolved once, and its Host header and certificate stay its own", async () => {
  let asked = 0;
  const outbound = createOutbound({
    log,
    resolve: () => {
      asked += 1;
      return loopback();
    },
  });
  const { port } = new URL(await serve(({ headers }, response) => response.end(headers.host)));
  const url = `http://files.example:${port}/`;
  assert.equal((await outbound.send(url, limits)).body, `files.example:${port}`);
  const { body } = await outbound.download(url, { ...downloadLimits, isGuarded: false });
  assert.equal(await text(body), `files.example:${port}`);
  assert.equal(asked, 2);

  const names: unknown[] = [];
  const server = createTlsServer({
    ...selfSigned,
    SNICallback(name, done) {
      names.push(name);
      done(null);
    },
  });
  const secure = `https://files.example:${await listen(server)}/`;
  assert.equal((await failureOf(outbound.send(secure, limits), "network")).wasSent, false);
  const untrusted = outbound.download(secure, { ...downloadLimits, isGuarded: false });
  assert.equal((await failureOf(untrusted, "network")).wasSent, false);
  assert.deepEqual(names, ["files.example", "files.example"]);
  await outbound.close();
});

test("each address of a name is tried", async () => {
  const { port } = new URL(await serve((_request, response) => response.end("here")));
  const outbound = createOutbound({ log, resolve: () => Promise.resolve(["::1", "127.0.0.1"]) });
  assert.equal((await outbound.send(`http://files.example:${port}/`, limits)).body, "here");
  await outbound.close();
});

test("a guarded call is refused, and was not sent; an unguarded one goes anywhere", async () => {
  let requests = 0;
  const url = await serve((_request, response) => {
    requests += 1;
    response.end("{}");
  });
  const { connect, opened } = everythingAt(url);
  const outbound = createOutbound({ log, connect, resolve: loopback });
  const guarded = { ...limits, isGuarded: true } as const;
  for (const host of ["127.0.0.1", "[::1]", "files.example", "files.example:5432"]) {
    for (const call of [outbound.send, outbound.fetchJson]) {
      const error = await failureOf(call(`http://${host}/a?b`, guarded), "forbidden_address");
      assert.equal(error.wasSent, false);
      assert.match(error.message, /^GET http:\/\/\S+\/a failed: .*(public address|port 5432)/);
    }
    await failureOf(outbound.download(`http://${host}/`, downloadLimits), "forbidden_address");
  }
  assert.deepEqual([opened.length, requests], [0, 0]);
  assert.deepEqual(await outbound.fetchJson("http://files.example:5432/", limits), {});
  await outbound.close();
});

test("a private place that is allowed is reached by its name and port alone", async () => {
  const url = await serve((_request, response) => response.end("sandbox"));
  const { host, port } = new URL(url);
  const outbound = createOutbound({ log, resolve: loopback, allowed: new Set([host]) });
  const guarded = { ...limits, isGuarded: true } as const;
  assert.equal((await outbound.send(url, guarded)).body, "sandbox");
  assert.equal(await text((await outbound.download(url, downloadLimits)).body), "sandbox");
  for (const other of [`localhost:${port}`, "127.0.0.1:80", "169.254.169.254", "[::1]"])
    await failureOf(outbound.send(`http://${other}/`, guarded), "forbidden_address");
  await outbound.close();
});

test("a connection that was dialled unguarded never serves a guarded call", async () => {
  const url = await serve((_request, response) => response.end("inside"));
  const { connect, opened } = everythingAt(url);
  const outbound = createOutbound({ log, connect, resolve: loopback });
  await outbound.send("http://files.example/", limits);
  assert.equal(opened[0]?.destroyed, false);
  const guarded = { ...limits, isGuarded: true } as const;
  await failureOf(outbound.send("http://files.example/", guarded), "forbidden_address");
  await failureOf(outbound.download("http://files.example/", downloadLimits), "forbidden_address");
  await outbound.close();
});

test("a socket that ends up inside in spite of all checks is closed unused", async () => {
  let requests = 0;
  const url = await serve((_request, response) => {
    requests += 1;
    response.end("x");
  });
  const { connect, opened } = everythingAt(url);
  const outside = everythingAt(url, "8.8.8.8");
  for (const [network, isRefused] of [
    [connect, true],
    [outside.connect, false],
  ] as const) {
    const outbound = createOutbound({ log, connect: network });
    const call = outbound.download("http://8.8.8.8/", downloadLimits);
    if (isRefused) await failureOf(call, "forbidden_address");
    else assert.equal(await text((await call).body), "x");
  }
  assert.equal(requests, 1);
  assert.equal(opened[0]?.destroyed, true);
});

test("a name that can't be resolved was not called, and the failure says why", async () => {
  const resolve = (): Promise<string[]> => Promise.reject(new Error("no such name"));
  const outbound = createOutbound({ log, resolve });
  for (const call of [
    () => outbound.send("http://files.example/", limits),
    () => outbound.download("http://files.example/", downloadLimits),
  ]) {
    const error = await failureOf(call(), "network");
    assert.equal(error.wasSent, false);
    assert.match(error.message, /files\.example could not be resolved/);
  }
});

test("the end of a download ends its dialling too", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const late = Promise.withResolvers<string[]>();
  const hanging = createOutbound({ log, connect: ({ signal }) => signals.push(signal) });
  const options = { ...downloadLimits, totalMs: 50 };
  await failureOf(hanging.download("http://8.8.8.8/", options), "timeout");
  assert.equal(signals[0]?.aborted, true);
  const slow = createOutbound({
    log,
    connect: ({ signal }) => signals.push(signal),
    resolve: () => late.promise,
  });
  await failureOf(slow.download("http://files.example/", options), "timeout");
  late.resolve(["8.8.8.8"]);
  await setImmediate();
  assert.equal(signals.length, 1);
});

test("closing ends the connections that were kept", async () => {
  const url = await serve((_request, response) => response.end("x"));
  await leavesNothing(async () => {
    const { connect, opened } = everythingAt(url, "8.8.8.8");
    const outbound = createOutbound({ log, connect });
    await outbound.send("http://8.8.8.8/", { ...limits, isGuarded: true });
    await outbound.send("http://8.8.8.8/", limits);
    assert.deepEqual([opened.length, opened.some((socket) => socket.destroyed)], [2, false]);
    await outbound.close();
    assert.ok(opened.every((socket) => socket.destroyed));
  });
});
