// What every request meets, whatever it asks for: request id, security headers, JSON, validation, error body, log line,
// idempotency and audit. It knows no room's rules.
export { audit } from "./audit.ts";
export { callerOf } from "./caller.ts";
export type { Caller } from "./caller.ts";
export { errorBody } from "./error-body.ts";
export type { ErrorBody } from "./error-body.ts";
export { Html, html } from "./html.ts";
export { answerOnce } from "./idempotency.ts";
export { answerOnceLeased } from "./idempotency-lease.ts";
export { forgetOldOutcomes } from "./idempotency-records.ts";
export type { Outcome } from "./idempotency-records.ts";
export {
  bodyTextOf,
  echoIdempotencyKeys,
  endpointOf,
  idempotencyKeyOf,
} from "./idempotency-key.ts";
export { addGauges, createMetrics, measureRequests, serveMetrics } from "./metrics.ts";
export type { Metrics } from "./metrics.ts";
export { addressOf } from "./request-log.ts";
export { securityHeaders } from "./security-headers.ts";
export { createHttp } from "./server.ts";
export { validate } from "./validation.ts";
export type { ZodTypes } from "./validation.ts";
