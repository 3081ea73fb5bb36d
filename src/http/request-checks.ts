import type { FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import { wrongHeader } from "./error-body.ts";
import { isHost } from "./hosts.ts";

const maxHeaders = 100;
const nul = /%00|\0/;

/** What the parser lets through although no honest client sends it. Names come in pairs with their values. */
export function checkRequest({ raw, url }: FastifyRequest): void {
  const { rawHeaders, headers } = raw;
  if (rawHeaders.length > 2 * maxHeaders) {
    throw new AppError("headers_too_large", `The request has more than ${maxHeaders} headers`);
  }
  const hosts = rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === "host",
  );
  const isOldProtocol = raw.httpVersion === "1.0" && hosts.length === 0;
  if (!isOldProtocol && (hosts.length !== 1 || !isHost(headers.host ?? ""))) {
    throw wrongHeader("host", "must be given once, and be a host");
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    throw wrongHeader("expect", "can't be met");
  }
  if (nul.test(url)) throw new AppError("not_found", "Nothing is here");
}
