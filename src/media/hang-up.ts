import type { Socket } from "node:net";

const connections = new WeakMap<Socket, AbortSignal>();

/** Tells when the connection is gone. A response does not: while others are before it in the queue it hears nothing. */
export function goneOf(socket: Socket): AbortSignal {
  const known = connections.get(socket);
  if (known) return known;
  const controller = new AbortController();
  const hangUp = (): void => controller.abort(new Error("the client hung up"));
  if (socket.destroyed) hangUp();
  else socket.once("close", hangUp);
  connections.set(socket, controller.signal);
  return controller.signal;
}
