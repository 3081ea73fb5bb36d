/** Why a call that left the process brought nothing back. `status` also stands for a redirect: none is followed. */
export type OutboundFailure =
  | "address"
  | "network"
  | "timeout"
  | "status"
  | "too_large"
  | "not_json";

export class OutboundError extends Error {
  readonly failure: OutboundFailure;
  readonly status: number | undefined;
  /** The beginning of what the other side said. */
  readonly body: string | undefined;

  constructor(
    failure: OutboundFailure,
    message: string,
    facts: { status?: number; body?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: facts.cause });
    this.name = "OutboundError";
    this.failure = failure;
    this.status = facts.status;
    this.body = facts.body;
  }
}
