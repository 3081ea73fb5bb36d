import { STATUS_CODES } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { errorBody } from "./error-body.ts";
import { requestIdFrom } from "./request-id.ts";
import { securityHeaders } from "./security-headers.ts";

export type RateHeaders = (ip: string) => Promise<Record<string, string>>;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  before: ServerResponse | undefined;
}

// Long enough for a client that is still sending to read the answer; closing at once would take it away.
const lingerMs = 2_000;

function toAppError(code: string): AppError {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new AppError("headers_too_large", "The request's headers are larger than 16 KB");
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new AppError("request_timeout", "The request did not arrive in time");
  }
  return new AppError("validation_error", "The request is not well-formed HTTP", {
    details: [
      { field: "headers", message: "the request could not be parsed", code: "invalid_http" },
    ],
  });
}

/** Answers what never became a request: broken HTTP, headers over the limit, a request that trickles in. */
export function createClientErrors({
  clock,
  log,
  rateHeaders,
}: {
  clock: Clock;
  log: Logger;
  rateHeaders: RateHeaders;
}) {
  const latest = new WeakMap<Socket, Exchange>();
  const settled = new WeakSet<Socket>();

  function write(
    socket: Socket,
    error: AppError,
    requestId: string,
    rate: Record<string, string>,
  ): void {
    const body = JSON.stringify(errorBody(error, { requestId, now: clock.now() }));
    const headers = {
      ...securityHeaders,
      ...rate,
      "x-request-id": requestId,
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${head.join("")}\r\n${body}`,
    );
    setTimeout(() => socket.destroy(), lingerMs).unref();
  }

  function answer(socket: Socket, error: AppError): void {
    const requestId = requestIdFrom(undefined);
    const ip = socket.remoteAddress ?? "";
    log.info({ requestId, route: "none", status: error.status, ip, code: error.code }, "request");
    // Without rate headers is still an answer: the limiter's store may be what is down.
    rateHeaders(ip).then(
      (rate) => write(socket, error, requestId, rate),
      () => write(socket, error, requestId, {}),
    );
  }

  return {
    /** Requests before the broken one on its connection get their answers first. */
    follow(server: Server): void {
      server.on("request", (request: IncomingMessage, response: ServerResponse) => {
        const { socket } = request;
        latest.set(socket, { request, response, before: latest.get(socket)?.response });
      });
    },
    handle(failure: Error & { code?: string }, socket: Socket): void {
      if (settled.has(socket)) return;
      if (failure.code === "ECONNRESET" || !socket.writable) {
        socket.destroy();
        return;
      }
      settled.add(socket);
      const error = toAppError(failure.code ?? "");
      // One that has not arrived in full is the broken one itself.
      const last = latest.get(socket);
      const before = last?.request.complete ? last.response : last?.before;
      if (!before || before.closed) answer(socket, error);
      else before.once("close", () => (socket.writable ? answer(socket, error) : socket.destroy()));
    },
  };
}
