import { OutboundError } from "../outbound/index.ts";
import type { Send } from "../outbound/index.ts";
import type { Call, PlatformRequest } from "./adapter.ts";
import { PlatformError } from "./platform-error.ts";

export interface Binding {
  accessToken: string;
  account: Call["account"];
  /** For each call as a whole. */
  timeoutMs: number;
}

const maxBytes = 64 * 1024;

function contentOf({ json, form }: PlatformRequest): { type: string; body: string } | undefined {
  if (json !== undefined) return { type: "application/json", body: JSON.stringify(json) };
  if (!form) return undefined;
  return { type: "application/x-www-form-urlencoded", body: new URLSearchParams(form).toString() };
}

/** Reading again does no harm; anything else is repeated only when the platform certainly never got it. */
function failureOf(method: PlatformRequest["method"], error: OutboundError): PlatformError {
  if (error.wasSent === false) {
    return new PlatformError("retry", "The platform could not be reached", { cause: error });
  }
  return method === "GET"
    ? new PlatformError("retry", "The platform did not answer", { cause: error })
    : new PlatformError("unknown", "The platform's answer was lost", { cause: error });
}

/** `outbound` in the name of one account. The token goes to the address asked for and nowhere else. */
export function bindCall(outbound: { send: Send }, binding: Binding): Call {
  const { accessToken, account, timeoutMs } = binding;
  return {
    account,
    async send(request) {
      const { method, url } = request;
      const content = contentOf(request);
      const headers = {
        ...request.headers,
        ...(content && { "content-type": content.type }),
        authorization: `Bearer ${accessToken}`,
      };
      const options = {
        method,
        headers,
        timeoutMs,
        maxBytes,
        ...(content && { body: content.body }),
      };
      try {
        const { status, headers, body } = await outbound.send(url, options);
        return { status, headers, body };
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        throw failureOf(method, error);
      }
    },
  };
}
