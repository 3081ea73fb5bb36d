import { destination, pino } from "pino";
import type { Logger } from "pino";

interface ErrorFacts {
  name: string;
  message: string;
  code?: unknown;
  stack?: string | undefined;
  cause?: ErrorFacts | undefined;
}

// Errors of libraries carry whatever they were doing (rows, requests, tokens): only these facts are logged.
function errorFacts(error: unknown, depth = 0): ErrorFacts | undefined {
  if (!(error instanceof Error))
    return error === undefined ? undefined : { name: typeof error, message: "not an Error" };
  return {
    name: error.name,
    message: error.message,
    ...("code" in error ? { code: error.code } : {}),
    stack: error.stack,
    cause: depth < 3 ? errorFacts(error.cause, depth + 1) : undefined,
  };
}

export function createLog(level: string, name: string): Logger {
  return pino(
    { level, name, base: { name }, serializers: { err: (error: unknown) => errorFacts(error) } },
    // Lines are written as fast as the reader takes them, without holding up requests.
    destination({ sync: false }),
  );
}
