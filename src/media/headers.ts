import type { IncomingHttpHeaders } from "node:http";
import type { MediaRecord } from "./queries.ts";

export const cacheControl = "public, max-age=3600";

// What a browser would run, or open with a program that runs things, if it were shown from this origin.
const inert = /^(?:image\/(?!svg)|audio\/|video\/|text\/plain$|application\/pdf$)/;

export const etagOf = ({ checksum }: MediaRecord): string => `"${checksum.slice(0, 32)}"`;

export const dispositionOf = ({ contentType }: MediaRecord): string | undefined =>
  inert.test(contentType) ? undefined : "attachment";

/** On every answer that carries a file or a part of it, and on 304. */
export function headersOf(record: MediaRecord): Record<string, string> {
  const disposition = dispositionOf(record);
  return {
    "accept-ranges": "bytes",
    "cache-control": cacheControl,
    etag: etagOf(record),
    "last-modified": record.createdAt.toUTCString(),
    // Files are there to be shown elsewhere; nothing in them may run here.
    "cross-origin-resource-policy": "cross-origin",
    "content-security-policy":
      "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
    ...(disposition === undefined ? {} : { "content-disposition": disposition }),
  };
}

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1_000);

/** Whether the client has it already (RFC 9110, 13.2.2: `If-None-Match` goes before `If-Modified-Since`). */
export function isKnown(record: MediaRecord, headers: IncomingHttpHeaders): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined) {
    const etag = etagOf(record);
    return (
      tags.trim() === "*" || tags.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)
    );
  }
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return !Number.isNaN(since) && secondsOf(record.createdAt) <= since / 1_000;
}

/** Whether a part may be sent: not if the client's other parts are of something else. */
export function mayContinue(record: MediaRecord, headers: IncomingHttpHeaders): boolean {
  const condition = headers["if-range"];
  if (typeof condition !== "string") return true;
  if (condition.trim().startsWith('"')) return condition.trim() === etagOf(record);
  return Date.parse(condition) / 1_000 === secondsOf(record.createdAt);
}
