/**
 * Why a call that left the process brought nothing back.
 * - `address`, `request`: it can't be called, or formed; `forbidden_address`: it may not be.
 * - `status`: any but 2xx; also a redirect, where none is followed. `redirects`: followed, and not to an end.
 * - `timeout`, `idle`: too slow as a whole, or silent for too long. `aborted`: by the caller.
 * - `cut`: the body ended before its end. `too_large`, `encoding`, `not_json`: it can't be taken as it is.
 */
export type OutboundFailure =
  | "address"
  | "forbidden_address"
  | "request"
  | "network"
  | "timeout"
  | "idle"
  | "aborted"
  | "status"
  | "redirects"
  | "cut"
  | "too_large"
  | "encoding"
  | "not_json";

/** Whether the other side got the request: false only where that is certain. */
export type WasSent = boolean | "maybe";

export interface OutboundFacts {
  wasSent: WasSent;
  status?: number | undefined;
  /** The beginning of what the other side said. */
  body?: string | undefined;
  cause?: unknown;
}

export class OutboundError extends Error {
  readonly failure: OutboundFailure;
  readonly wasSent: WasSent;
  readonly status: number | undefined;
  readonly body: string | undefined;

  constructor(failure: OutboundFailure, message: string, facts: OutboundFacts) {
    super(message, { cause: facts.cause });
    this.name = "OutboundError";
    this.failure = failure;
    this.wasSent = facts.wasSent;
    this.status = facts.status;
    this.body = facts.body;
  }
}

/** A failure of dialling, which knows only the host, told as that of the call. */
export function undialled(name: string, { failure, message, cause }: OutboundError): OutboundError {
  return new OutboundError(failure, `${name} failed: ${message}`, { wasSent: false, cause });
}
