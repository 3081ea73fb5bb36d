import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { errorBody } from "./error-body.ts";
import { requestIdFrom } from "./request-id.ts";
import { securityHeaders } from "./security-headers.ts";

export type RateHeaders = (ip: string) => Promise<Record<string, string>>;

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
export function answerClientErrors(clock: Clock, rateHeaders: RateHeaders) {
  return (failure: Error & { code?: string }, socket: Socket): void => {
    if (failure.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const error = toAppError(failure.code ?? "");
    const requestId = requestIdFrom(undefined);
    const body = JSON.stringify(errorBody(error, { requestId, now: clock.now() }));
    const write = (rate: Record<string, string>): void => {
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
    };
    // Without rate headers is still an answer: the limiter's store may be what is down.
    rateHeaders(socket.remoteAddress ?? "").then(write, () => write({}));
  };
}
