import type { PlatformError } from "../platforms/index.ts";

const maxWaitSeconds = 24 * 60 * 60;
const maxBackoffSeconds = 15 * 60;

const codes: Record<PlatformError["kind"], string> = {
  reconnect: "token_expired",
  rejected: "rejected",
  duplicate: "duplicate_content",
  retry: "platform_unavailable",
  unknown: "outcome_unknown",
};

/** The code on a failed run. */
export function codeOf(error: PlatformError): string {
  return error.kind === "retry" && error.upstreamStatus === 429
    ? "rate_limited"
    : codes[error.kind];
}

/** The platform's own wait where it gave one that makes sense; else longer each time, and never all at once. */
export function waitSeconds(error: PlatformError, attempts: number): number {
  const asked = error.retryAfterSeconds;
  if (asked !== undefined && asked > 0)
    return Math.min(asked, maxWaitSeconds) * (1 + Math.random() * 0.05);
  return Math.min(2 ** attempts, maxBackoffSeconds) * (0.5 + Math.random());
}
