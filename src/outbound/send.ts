import type { Logger } from "pino";
import { fetch, Headers, Request } from "undici";
import type { Dispatcher, Response } from "undici";
import { OutboundError, undialled } from "./outbound-error.ts";
import type { WasSent } from "./outbound-error.ts";
import { wasSent } from "./was-sent.ts";

export interface FetchOptions {
  /** For the whole call, from the name's lookup to the last byte. */
  timeoutMs: number;
  /** Of the answer's body, after decompression. */
  maxBytes: number;
  method?: string;
  headers?: Record<string, string>;
  /** A stream is read once, so its call can't be repeated. */
  body?: string | { bytes: AsyncIterable<Uint8Array>; sizeBytes: number };
  /** For an address that a user chose: only what is public is called. */
  isGuarded?: true;
  /**
   * Whoever answers is believed, whatever certificate it shows. For the workflow endpoint alone, of which the contract
   * says so (`business/forward.ts`); a test holds everything else to verifying.
   */
  acceptsAnyCertificate?: true;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** Why `body` is only the beginning of what was to be said; null where it is whole. */
  cutShort: OutboundError | null;
}

/** Any answer is returned, whatever its status; a failure is an `OutboundError`. */
export type Send = (url: string, options: FetchOptions) => Promise<Answer>;

/** Each has connections of its own: one that was dialled unchecked or unverified never serves the calls of another. */
export interface Agents {
  open: Dispatcher;
  guarded: Dispatcher;
  unverified: Dispatcher;
}

function agentFor({ isGuarded, acceptsAnyCertificate }: FetchOptions, agents: Agents): Dispatcher {
  if (isGuarded) return agents.guarded;
  return acceptsAnyCertificate ? agents.unverified : agents.open;
}

interface OutgoingCall {
  dispatcher: Dispatcher;
  name: string;
  request: Request;
  maxBytes: number;
}

/** Method and address, without what may carry a secret: user, password, query, fragment. */
export function nameOf(url: string, { method = "GET" }: { method?: string }): string {
  const parsed = URL.parse(url);
  return `${method} ${parsed ? `${parsed.origin}${parsed.pathname}` : "an address that is no URL"}`;
}

/** Web addresses only, without a password, which would be shown with them; the fragment is never sent. */
export function parseAddress(name: string, url: string): URL {
  const parsed = URL.parse(url);
  if (parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password) {
    parsed.hash = "";
    return parsed;
  }
  throw new OutboundError("address", `${name} can't be called`, { wasSent: false });
}

function streamOf(body: FetchOptions["body"]) {
  if (typeof body !== "string") return body;
  const bytes = Buffer.from(body);
  return { bytes: [bytes], sizeBytes: bytes.length };
}

function requestOf(name: string, url: string, options: FetchOptions): Request {
  const { method = "GET", timeoutMs } = options;
  parseAddress(name, url);
  const body = streamOf(options.body ?? (method === "GET" || method === "HEAD" ? undefined : ""));
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const request = new Request(url, {
      method,
      headers: new Headers(options.headers),
      signal,
      redirect: "manual",
      // `fetch` sends a request again, by itself, after a 421. It can't where the body is a stream: that is read once.
      ...(body !== undefined && {
        body: ReadableStream.from(body.bytes),
        duplex: "half",
      }),
    });
    if (body !== undefined) request.headers.set("content-length", String(body.sizeBytes));
    return request;
  } catch {
    // Without its cause, which quotes the header that is at fault, token and all.
    throw new OutboundError("request", `${name} can't be formed`, { wasSent: false });
  }
}

function broken(name: string, error: unknown, sent: WasSent): OutboundError {
  if (error instanceof Error && error.cause instanceof OutboundError) {
    return undialled(name, error.cause);
  }
  const facts = { wasSent: sent, cause: error };
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  return isTimeout
    ? new OutboundError("timeout", `${name} took too long`, facts)
    : new OutboundError("network", `${name} failed`, facts);
}

/** Stops reading, and closes the connection, at the first byte too many. */
async function read(response: Response, { name, maxBytes }: OutgoingCall) {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  let cutShort: OutboundError | null = null;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes <= maxBytes) continue;
      const message = `${name} answered more than ${maxBytes} bytes`;
      cutShort = new OutboundError("too_large", message, {
        wasSent: true,
        status: response.status,
      });
      break;
    }
  } catch (error) {
    // The status and the headers are here, and say more than the loss of the rest.
    cutShort = broken(name, error, true);
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8"), cutShort };
}

async function exchange(call: OutgoingCall): Promise<Answer> {
  const response = await fetch(call.request, { dispatcher: call.dispatcher }).catch(
    (error: unknown) => {
      throw broken(call.name, error, wasSent(error));
    },
  );
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, ...(await read(response, call)) };
}

export function createSend(log: Logger, agents: Agents): Send {
  return async (url, options) => {
    const name = nameOf(url, options);
    const startedAt = performance.now();
    let facts: { status?: number; failure?: string | undefined } = {};
    try {
      const request = requestOf(name, url, options);
      const dispatcher = agentFor(options, agents);
      const answer = await exchange({ name, request, dispatcher, maxBytes: options.maxBytes });
      facts = { status: answer.status, failure: answer.cutShort?.failure };
      return answer;
    } catch (error) {
      if (error instanceof OutboundError) facts = { failure: error.failure };
      throw error;
    } finally {
      const ms = Math.round(performance.now() - startedAt);
      log.debug({ call: name, ...facts, ms }, "outbound call");
    }
  };
}
