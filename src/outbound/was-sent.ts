/** The steps before the first byte of a request. The same codes can also end a later `read` or `write`. */
const firstSteps: ReadonlySet<unknown> = new Set(["getaddrinfo", "connect"]);

/** The connection was never made, or the certificate was refused on it: nothing is written before either. */
const certainCodes: ReadonlySet<unknown> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "INVALID_CA",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Of an error as the connection gave it, not wrapped by `fetch`. */
export function endedBeforeSending(cause: unknown): boolean {
  // A name with several addresses: each was tried.
  if (cause instanceof AggregateError) {
    return cause.errors.length > 0 && cause.errors.every(endedBeforeSending);
  }
  if (!(cause instanceof Error)) return false;
  const { code, syscall } = cause as NodeJS.ErrnoException;
  return firstSteps.has(syscall) || certainCodes.has(code);
}

/**
 * What a failed `fetch` tells about its request. Only what is listed is certain: a connection that broke, even a kept
 * one that was closed before this request, may have carried it.
 */
export function wasSent(error: unknown): false | "maybe" {
  return error instanceof Error && endedBeforeSending(error.cause) ? false : "maybe";
}
