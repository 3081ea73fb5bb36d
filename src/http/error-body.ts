import { AppError } from "../errors.ts";
import { isUnavailable } from "../db/index.ts";

export interface ErrorBody {
  error: {
    type: "invalid_request_error" | "authentication_error" | "api_error";
    code: string;
    message: string;
    timestamp: string;
    requestId?: string;
    details?: AppError["details"];
    debug?: { stack: string | undefined };
  };
}

function typeOfStatus(status: number): ErrorBody["error"]["type"] {
  if (status === 401 || status === 403) return "authentication_error";
  return status >= 500 ? "api_error" : "invalid_request_error";
}

export function errorBody(
  error: AppError,
  facts: { requestId?: string; now: Date; debug?: unknown },
): ErrorBody {
  const { requestId, now, debug } = facts;
  return {
    error: {
      type: typeOfStatus(error.status),
      code: error.code,
      message: error.message,
      timestamp: now.toISOString(),
      ...(requestId === undefined ? {} : { requestId }),
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(debug instanceof Error ? { debug: { stack: debug.stack } } : {}),
    },
  };
}

const ofFastify: Record<string, () => AppError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new AppError("payload_too_large", "The request body is larger than 1 MB"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    wrongHeader("content-type", "must be application/json in UTF-8"),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    wrongHeader("content-length", "does not match the body"),
  FST_ERR_BAD_URL: () => new AppError("not_found", "The address is not well-formed"),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError("not_found", "Nothing is here"),
};

export function wrongHeader(name: string, message: string): AppError {
  return new AppError("validation_error", "The request is not valid", {
    details: [{ field: `headers.${name}`, message, code: "invalid_header" }],
  });
}

/** What the caller is told about any error. What is not meant for a caller is hidden behind `internal_error`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isUnavailable(error)) {
    return new AppError("service_unavailable", "The service can't answer now, please try again", {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = ofFastify[code]?.();
  if (known) return known;
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (code.startsWith("FST_") && status < 500)
    return wrongHeader("content-type", "does not fit the request");
  return new AppError("internal_error", "Something went wrong on our side", { cause: error });
}
