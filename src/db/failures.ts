// Which failures of a query mean "the database can't serve us now", and which a retry cures.

const unavailable = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ENOENT", // the Unix socket of a server that is down
  "EPIPE",
  "ETIMEDOUT",
  "25006", // read-only: a standby, or a server that was demoted
  "53100", // disk full
  "53200",
  "53300", // too many connections
  "53400",
  "55P03", // lock timeout
  "57014", // statement timeout
  "57P01", // shutdown
  "57P02",
  "57P03", // starting up
]);

// node-postgres throws these without a code.
const uncoded =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (unavailable.has(code) || code.startsWith("08")) return true;
  return code === "" && error instanceof Error && uncoded.test(error.message);
}

/** The transaction lost against another one: it left no trace and may be run again. */
export function isSerializationFailure(error: unknown): boolean {
  const code = codeOf(error);
  return code === "40001" || code === "40P01";
}

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

function breaks(error: unknown, code: string, constraint: string): boolean {
  return (
    codeOf(error) === code &&
    error instanceof Error &&
    "constraint" in error &&
    error.constraint === constraint
  );
}

export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  breaks(error, "23505", constraint);

/** A row refers to what is not there, or is referred to and can't go. */
export const isForeignKeyViolation = (error: unknown, constraint: string): boolean =>
  breaks(error, "23503", constraint);

/** A value in the statement is at fault (class 22, 23), not the statement or the server. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error));
}
