import type { Logger } from "pino";
import { OutboundError } from "./outbound-error.ts";

export interface FetchOptions {
  /** For the whole call, from the name's lookup to the last byte. */
  timeoutMs: number;
  /** Of the answer's body, after decompression. */
  maxBytes: number;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export type FetchJson = (url: string, options: FetchOptions) => Promise<unknown>;

export interface Outbound {
  fetchJson: FetchJson;
}

const keptOfRefusal = 500;

/** The address without what may carry a secret: user, password, query, fragment. */
function nameOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : "an address that is no URL";
}

/** Stops reading, and closes the connection, at the first byte too many. */
async function read(response: Response, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
  return { text, isWhole: sizeBytes <= maxBytes };
}

async function fetchText(url: string, options: FetchOptions): Promise<string> {
  const { username, password } = URL.parse(url) ?? { username: "?" };
  // Refused here, because `fetch` would put the whole address into its error.
  if (username || password) throw new OutboundError("address", "can't be called");
  const { timeoutMs, maxBytes, ...request } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { ...request, redirect: "manual", signal });
  const { status } = response;
  const { text, isWhole } = await read(response, response.ok ? maxBytes : keptOfRefusal);
  if (!response.ok) throw new OutboundError("status", `answered ${status}`, { status, body: text });
  if (!isWhole)
    throw new OutboundError("too_large", `answered more than ${maxBytes} bytes`, { status });
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OutboundError("not_json", "answered what is not JSON", {
      body: text.slice(0, keptOfRefusal),
      cause,
    });
  }
}

/** The same failure, saying which call it was. */
function named(error: unknown, call: string): OutboundError {
  if (error instanceof OutboundError) {
    return new OutboundError(error.failure, `${call} ${error.message}`, error);
  }
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  return isTimeout
    ? new OutboundError("timeout", `${call} took too long`, { cause: error })
    : new OutboundError("network", `${call} failed`, { cause: error });
}

export function createOutbound({ log }: { log: Logger }): Outbound {
  return {
    async fetchJson(url, options) {
      const call = `${options.method ?? "GET"} ${nameOf(url)}`;
      const startedAt = performance.now();
      let failure: string | undefined;
      try {
        return parse(await fetchText(url, options));
      } catch (error) {
        const outboundError = named(error, call);
        failure = outboundError.failure;
        throw outboundError;
      } finally {
        log.debug(
          { call, failure, ms: Math.round(performance.now() - startedAt) },
          "outbound call",
        );
      }
    },
  };
}
