import { randomUUID } from "node:crypto";

const printable = /^[\x20-\x7e]{1,200}$/;

/** The client's `X-Request-ID` where it is safe to echo and to log, else one of our own. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === "string" && printable.test(header) ? header : randomUUID();
}
