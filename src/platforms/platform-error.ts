/** Only `retry` is ever repeated: nothing was sent, or the platform said that it took nothing. */
export type PlatformErrorKind = "reconnect" | "rejected" | "duplicate" | "retry" | "unknown";

export interface PlatformErrorFacts {
  upstreamStatus?: number;
  upstreamBody?: string;
  retryAfterSeconds?: number;
  /** With `duplicate`: the post that is already there. */
  remoteId?: string;
  cause?: unknown;
}

const maxBodyLength = 2_000;

export class PlatformError extends Error {
  readonly kind: PlatformErrorKind;
  readonly upstreamStatus: number | undefined;
  readonly upstreamBody: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly remoteId: string | undefined;

  constructor(kind: PlatformErrorKind, message: string, facts: PlatformErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.name = "PlatformError";
    this.kind = kind;
    this.upstreamStatus = facts.upstreamStatus;
    this.upstreamBody = facts.upstreamBody?.slice(0, maxBodyLength);
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.remoteId = facts.remoteId;
  }
}
