// Every code the service answers with, and its status. `error.type` follows from the status.
export const statusOfCode = {
  validation_error: 400,
  missing_integrations: 400,
  missing_account: 400,
  upload_failed: 400,
  invalid_state: 400,
  publish_failed: 400,
  MEDIA_INVALID: 400,
  UNSUPPORTED_MEDIA_TYPE: 400,
  unauthorized: 401,
  insufficient_credits: 402,
  forbidden: 403,
  not_found: 404,
  MEDIA_NOT_FOUND: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  idempotency_conflict: 409,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  rate_limit_exceeded: 429,
  headers_too_large: 431,
  internal_error: 500,
  post_creation_failed: 500,
  upstream_error: 502,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statusOfCode;

export interface ErrorDetail {
  field: string;
  message: string;
  code: string;
  received?: string;
}

export interface ErrorOptions {
  details?: ErrorDetail[] | Record<string, unknown>;
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** Something a caller can cause and should be told about. Anything else that is thrown is a bug. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorOptions["details"];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return statusOfCode[this.code];
  }
}
