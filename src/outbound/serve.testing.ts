import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { after } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { OutboundError } from "./index.ts";
import type { OutboundFailure } from "./index.ts";

/** Listens on a free port of 127.0.0.1 until the tests of the file are over. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export const serve = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(listener))}`;

export async function failureOf(
  call: Promise<unknown>,
  failure: OutboundFailure,
): Promise<OutboundError> {
  const error = await call.then(
    () => assert.fail("the call succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof OutboundError, String(error));
  assert.equal(error.failure, failure, error.message);
  return error;
}

const openHandles = (): number =>
  readdirSync("/proc/self/fd").length +
  process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

/** Descriptors and timers together: what an act may not leave more of, once it is over. */
export async function leavesNothing(act: () => Promise<void>): Promise<void> {
  const before = openHandles();
  await act();
  const deadline = performance.now() + 5_000;
  while (openHandles() > before) {
    assert.ok(performance.now() < deadline, `${openHandles()} handles, ${before} before`);
    await pause(20, undefined, { ref: false });
  }
}
