/**
 * Why a call that left the process brought nothing back. `request` stands for one that can't be formed, `status` also
 * for a redirect: none is followed.
 */
export type OutboundFailure =
  | "address"
  | "request"
  | "network"
  | "timeout"
  | "status"
  | "too_large"
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
