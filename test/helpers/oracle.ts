import assert from "node:assert/strict";
import { statusOfCode } from "../../src/errors.ts";
import { errorBodySchema } from "../../src/reference/index.ts";

/** An answer, whichever way it came: injected or off the wire. */
export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  body: string;
}

/** What was asked, as far as the answer has to agree with it. */
export interface Asked {
  method: string;
  /** The path without its query; null for bytes that never became a request. */
  path: string | null;
  /** The `X-Request-ID` that was sent. */
  requestId?: string;
  /** What no answer may repeat. */
  secrets: readonly string[];
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

const security = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "strict-origin-when-cross-origin",
  "x-dns-prefetch-control": "off",
  "strict-transport-security": "max-age=63072000; includeSubDomains",
};
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const innards =
  /node_modules|node:internal|\.[jt]s:\d|\bat \S+ \(|violates|relation "|syntax error|invalid byte sequence|(select|insert|update|delete) .{0,80}(from|into|set) /i;

/** What can be answered where no route is: it is not there, or the request is refused before anyone looks. */
const withoutRoute = ["400", "404", "408", "413", "429", "431"];

/** The statuses that the document names for what was asked, and the route it was, if it was one. */
function statusesOf(document: Document, { method, path }: Asked) {
  if (path === null) return { statuses: withoutRoute };
  const segments = path.split("/");
  const template = Object.keys(document.paths).find((candidate) => {
    const parts = candidate.split("/");
    return (
      parts.length === segments.length &&
      parts.every((part, i) => (part.startsWith("{") ? segments[i] !== "" : part === segments[i]))
    );
  });
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const operation = document.paths[template ?? ""]?.[verb];
  return operation
    ? { statuses: Object.keys(operation.responses), route: `${verb} ${template}` }
    : { statuses: withoutRoute };
}

function judgeRequestId(asked: Asked, answer: Answer): void {
  const given = asked.requestId;
  const echoed = answer.headers["x-request-id"] ?? "";
  if (given !== undefined && /^[\x20-\x7e]{1,200}$/.test(given)) assert.equal(echoed, given);
  else assert.match(echoed, uuid, "a request id of our own");
}

function judgeRate(headers: Answer["headers"]): void {
  assert.match(headers["x-ratelimit-limit"] ?? "", /^\d+$/, "X-RateLimit-Limit");
  assert.match(headers["x-ratelimit-remaining"] ?? "", /^\d+$/, "X-RateLimit-Remaining");
  const reset = headers["x-ratelimit-reset"] ?? "";
  assert.equal(new Date(reset).toISOString(), reset, "X-RateLimit-Reset");
  assert.match(
    headers["x-ratelimit-tier"] ?? "",
    /^(default|authenticated|premium|admin)$/,
    "X-RateLimit-Tier",
  );
}

function judgeError(answer: Answer): void {
  assert.match(answer.headers["content-type"] ?? "", /^application\/json/, "an error is JSON");
  const { error } = errorBodySchema.parse(JSON.parse(answer.body));
  assert.equal(statusOfCode[error.code], answer.status, `the status of ${error.code}`);
  const isAboutIdentity = answer.status === 401 || answer.status === 403;
  assert.equal(error.type, isAboutIdentity ? "authentication_error" : "invalid_request_error");
  assert.equal(error.requestId, answer.headers["x-request-id"], "the id in body and header");
  assert.ok(Math.abs(Date.now() - Date.parse(error.timestamp)) < 60_000, "the time is now");
  assert.equal(error.debug, undefined, "nothing for developers");
  assert.ok(answer.body.isWellFormed() && !/\\ud[89a-f]../i.test(answer.body), "whole characters");
  if (error.code === "validation_error")
    assert.ok(Object.keys(error.details ?? {}).length > 0, "the fault is named");
}

/** Judges every answer by the same rules, whatever was asked. `undocumented` gets what a route's document lacks. */
export function createOracle(document: Document, undocumented: Set<string>) {
  return function judge(asked: Asked, answer: Answer): void {
    const { statuses, route } = statusesOf(document, asked);
    assert.ok(answer.status < 500, `${answer.status} ${answer.body}`);
    const isDocumented = statuses.includes(String(answer.status));
    if (!isDocumented && route) undocumented.add(`${route}: ${answer.status}`);
    else assert.ok(isDocumented, `${answer.status} is no answer to ${asked.method} ${asked.path}`);
    for (const [name, value] of Object.entries(security))
      assert.equal(answer.headers[name], value, name);
    judgeRequestId(asked, answer);
    if (statuses.includes("429")) judgeRate(answer.headers);
    if (answer.status >= 400 && asked.method !== "HEAD") {
      judgeError(answer);
      assert.doesNotMatch(answer.body, innards, "nothing of our insides");
    }
    const whole = `${answer.body}${Object.values(answer.headers).join("\n")}`;
    assert.ok(!asked.secrets.some((secret) => whole.includes(secret)), "no secret is repeated");
  };
}
