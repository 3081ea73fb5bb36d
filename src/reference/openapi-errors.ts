import { z } from "zod";
import { AppError, statusOfCode } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import { errorBody } from "../http/index.ts";
import type { ErrorBody } from "../http/index.ts";
import type { Example } from "./openapi-document.ts";

/** What each code tells a caller, in one sentence. */
export const errorMeanings: Record<ErrorCode, string> = {
  validation_error:
    "The request does not fit what is described here; `details` names every field at fault.",
  missing_integrations: "A platform is not connected, or an `accountId` is not known.",
  missing_account: "Several accounts are connected and the request does not say which one to use.",
  upload_failed: "The file could not be fetched or stored.",
  invalid_state: "The connection attempt is unknown, was already used, or has expired.",
  publish_failed: "The platform did not take the post; details hold its own words.",
  MEDIA_INVALID: "The media record is incomplete, so it can't be used.",
  UNSUPPORTED_MEDIA_TYPE: "The media is neither audio nor video.",
  unauthorized: "The credential is missing, unknown or revoked.",
  insufficient_credits: "The balance does not cover what this would cost.",
  forbidden:
    "The credential is good but does not allow this, or the subscription is missing or has ended.",
  not_found: "Nothing is at this address.",
  MEDIA_NOT_FOUND: "No media has this id.",
  method_not_allowed: "The address exists but does not take this method.",
  request_timeout: "The request did not arrive in time.",
  idempotency_conflict:
    "The idempotency key was used with another body, or its first request is still running.",
  payload_too_large: "The request body is larger than 1 MB.",
  range_not_satisfiable: "Nothing of the file is in the range asked for.",
  rate_limit_exceeded: "Too many requests; `Retry-After` says how many seconds to wait.",
  headers_too_large: "The request has more than 100 headers, or more than 16 KB of them.",
  internal_error: "Something went wrong on our side; the request id helps us find it.",
  post_creation_failed: "The post could not be saved; nothing will be published.",
  upstream_error: "A service that this request depends on failed or refused it.",
  service_unavailable: "The service can't answer now; try again after `Retry-After` seconds.",
};

export const errorCodes = Object.keys(statusOfCode) as [ErrorCode, ...ErrorCode[]];

const detail = z.object({
  field: z.string().describe("Where the fault is, such as `body.post.content.platform`"),
  message: z.string(),
  code: z.string().describe("The kind of fault, such as `invalid_type`"),
  received: z.string().optional().describe("The type that was sent instead"),
});

/** The body of every error. Functions add a field beside `error`; nothing is ever added inside it. */
export const errorBodySchema = z
  .object({
    error: z.strictObject({
      type: z
        .enum(["invalid_request_error", "authentication_error", "api_error"])
        .describe("Follows from the status: 401 and 403, other 4xx, 5xx"),
      code: z.enum(errorCodes).describe("What went wrong; compare this, not the message"),
      message: z.string().describe("For people; its wording may change"),
      timestamp: z.iso.datetime(),
      requestId: z
        .string()
        .optional()
        .describe("The request's `X-Request-ID`; absent from errors of the media proxy"),
      details: z.union([z.array(detail), z.record(z.string(), z.unknown())]).optional(),
      debug: z
        .object({ stack: z.string() })
        .optional()
        .describe("Where the error was thrown; in development mode only"),
    }),
  })
  .meta({ id: "ErrorBody" }) satisfies z.ZodType<ErrorBody>;

const validationDetails = [
  {
    field: "body.name",
    message: "Invalid input: expected string",
    code: "invalid_type",
    received: "number",
  },
];

export const errorExamples = Object.fromEntries(
  errorCodes.map((code): [string, Example] => {
    const details = code === "validation_error" ? validationDetails : undefined;
    const error = new AppError(code, errorMeanings[code].replaceAll("`", ""), { details });
    const facts = {
      requestId: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
      now: new Date("2030-01-01T09:00:00Z"),
    };
    return [code, { summary: errorMeanings[code], value: errorBody(error, facts) }];
  }),
);
