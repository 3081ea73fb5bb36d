import { OutboundError } from "./outbound-error.ts";
import { nameOf } from "./send.ts";
import type { FetchOptions, Send } from "./send.ts";

/** The JSON of an answer with a 2xx status; everything else is an `OutboundError`. */
export type FetchJson = (url: string, options: FetchOptions) => Promise<unknown>;

const keptOfRefusal = 500;

export function createFetchJson(send: Send): FetchJson {
  return async (url, options) => {
    const { status, body, cutShort } = await send(url, options);
    const name = nameOf(url, options);
    const facts = { wasSent: true, status, body: body.slice(0, keptOfRefusal) };
    if (status < 200 || status > 299) {
      throw new OutboundError("status", `${name} answered ${status}`, facts);
    }
    if (cutShort) throw cutShort;
    try {
      return JSON.parse(body);
    } catch (cause) {
      throw new OutboundError("not_json", `${name} answered what is not JSON`, { ...facts, cause });
    }
  };
}
