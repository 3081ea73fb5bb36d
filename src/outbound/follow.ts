import { Client, errors } from "undici";
import type { Dispatcher } from "undici";
import { createDial } from "./dial.ts";
import type { Ways } from "./dial.ts";
import { isIdle } from "./download-body.ts";
import { OutboundError, undialled } from "./outbound-error.ts";
import { nameOf, parseAddress } from "./send.ts";
import { endedBeforeSending } from "./was-sent.ts";

export interface TripOptions {
  /** How long the other side may say nothing. */
  idleMs: number;
  /** For an address that a user chose: only what is public is called, on every hop. */
  isGuarded: boolean;
  /** For the first address alone: where it redirects to gets none of them. */
  headers?: Record<string, string>;
  maxRedirects?: number;
}

export interface Trip extends TripOptions {
  ways: Ways;
  /** Aborted, with why, when the download is over, one way or the other. Its sockets close with it. */
  life: AbortController;
}

export interface Arrival {
  url: URL;
  answer: Dispatcher.ResponseData;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const ownHeaders = { accept: "*/*", "accept-encoding": "identity", "user-agent": "herald" };

function unanswered(name: string, { life }: Trip, error: unknown): OutboundError {
  if (life.signal.reason instanceof OutboundError) return life.signal.reason;
  if (error instanceof OutboundError) return undialled(name, error);
  // Without its cause, which may quote the header that is at fault.
  if (error instanceof errors.InvalidArgumentError) {
    return new OutboundError("request", `${name} can't be formed`, { wasSent: false });
  }
  const facts = { wasSent: endedBeforeSending(error) ? false : ("maybe" as const), cause: error };
  return isIdle(error)
    ? new OutboundError("idle", `${name} gave no answer`, facts)
    : new OutboundError("network", `${name} failed`, facts);
}

/** On a connection for this one request: none is kept, and none that was kept is used. */
async function ask(url: URL, trip: Trip, headers = {}): Promise<Dispatcher.ResponseData> {
  const { ways, isGuarded, idleMs, life } = trip;
  const client = new Client(url.origin, {
    connect: createDial(ways, { isGuarded, signal: life.signal }),
    allowH2: false,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });
  life.signal.addEventListener("abort", () => void client.destroy(life.signal.reason as Error));
  try {
    const path = url.pathname + url.search;
    const answer = await client.request({
      method: "GET",
      path,
      headers: { ...ownHeaders, ...headers },
    });
    // A body that nobody came to read, a redirect's for one, fails when it is given up. Readers hear it all the same.
    answer.body.on("error", () => {});
    return answer;
  } catch (error) {
    throw unanswered(nameOf(url.href, {}), trip, error);
  }
}

/** Two `Location`s are none. */
function nextAddress({ url, answer }: Arrival): URL | null {
  const { location } = answer.headers;
  if (!redirects.has(answer.statusCode) || typeof location !== "string") return null;
  const name = `${nameOf(url.href, {})} redirects to an address that`;
  const next = parseAddress(name, URL.parse(location, url.href)?.href ?? "");
  if (url.protocol === "http:" || next.protocol === "https:") return next;
  const facts = { wasSent: true, status: answer.statusCode };
  throw new OutboundError("redirects", `${name} is not encrypted, though it is itself`, facts);
}

/** The first answer that redirects no further. Each address on the way is checked like the first. */
export async function follow(start: URL, trip: Trip): Promise<Arrival> {
  const { maxRedirects = 5, headers } = trip;
  const name = nameOf(start.href, {});
  const visited = new Set<string>();
  for (let url = start; ;) {
    const answer = await ask(url, trip, visited.size === 0 ? headers : {});
    const next = nextAddress({ url, answer });
    if (!next) return { url, answer };
    answer.body.destroy();
    visited.add(url.href);
    const facts = { wasSent: true, status: answer.statusCode };
    if (visited.has(next.href)) {
      throw new OutboundError("redirects", `${name} redirects in a circle`, facts);
    }
    if (visited.size > maxRedirects) {
      const message = `${name} redirects more than ${maxRedirects} times`;
      throw new OutboundError("redirects", message, facts);
    }
    url = next;
  }
}
