import type { Readable } from "node:stream";
import type { Logger } from "pino";
import type { Ways } from "./dial.ts";
import { openBody } from "./download-body.ts";
import { follow } from "./follow.ts";
import type { Trip, TripOptions } from "./follow.ts";
import { OutboundError } from "./outbound-error.ts";
import { nameOf, parseAddress } from "./send.ts";

export interface DownloadOptions extends TripOptions {
  /** Of the body, after decompression. */
  maxBytes: number;
  /** From the first name's lookup to the last byte. */
  totalMs: number;
  signal?: AbortSignal;
}

export interface Download {
  /** Where the redirects ended. */
  url: string;
  status: number;
  /** Names in lower case; of the body as it was sent, before it was decoded. */
  headers: Record<string, string>;
  /** To be read to its end or destroyed, which closes the connection. Its errors are `OutboundError`s. */
  body: Readable;
}

/** An answer with a 2xx status, its body still to be read; everything else is an `OutboundError`. */
export type StartDownload = (url: string, options: DownloadOptions) => Promise<Download>;

async function open(start: URL, trip: Trip, maxBytes: number): Promise<Download> {
  const { url, answer } = await follow(start, trip);
  const { statusCode: status, body } = answer;
  const name = nameOf(url.href, {});
  const facts = { wasSent: true, status };
  if (status < 200 || status > 299) {
    throw new OutboundError("status", `${name} answered ${status}`, facts);
  }
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([key, value]) => [key, [value].flat().join(", ")]),
  );
  if (Number(headers["content-length"]) > maxBytes) {
    throw new OutboundError("too_large", `${name} has more than ${maxBytes} bytes`, facts);
  }
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "";
  const rules = { name, status, encoding, maxBytes, life: trip.life };
  return { url: url.href, status, headers, body: openBody(body, rules) };
}

/** One deadline and one way to end it, for all the hops and the body of a download. */
function beginLife(name: string, { totalMs, signal }: DownloadOptions): AbortController {
  const life = new AbortController();
  const end = (failure: "timeout" | "aborted", message: string): void =>
    life.abort(new OutboundError(failure, message, { wasSent: "maybe" }));
  const timer = setTimeout(() => end("timeout", `${name} took more than ${totalMs} ms`), totalMs);
  life.signal.addEventListener("abort", () => clearTimeout(timer));
  const abort = (): void => end("aborted", `${name} was given up`);
  signal?.addEventListener("abort", abort, { once: true, signal: life.signal });
  if (signal?.aborted) abort();
  return life;
}

export function createDownload(log: Logger, ways: Ways): StartDownload {
  return async (url, options) => {
    const name = nameOf(url, {});
    const startedAt = performance.now();
    const life = beginLife(name, options);
    const tell = (): void => {
      const { reason } = life.signal;
      const failure = reason instanceof OutboundError ? reason.failure : undefined;
      const ms = Math.round(performance.now() - startedAt);
      log.debug({ call: name, failure, ms }, "outbound download");
    };
    life.signal.addEventListener("abort", tell);
    try {
      return await open(parseAddress(name, url), { ...options, ways, life }, options.maxBytes);
    } catch (error) {
      life.abort(error);
      throw error;
    }
  };
}
