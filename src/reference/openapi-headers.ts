import type { Header, Parameter, Reference } from "./openapi-document.ts";
import { refTo } from "./openapi-document.ts";
import { securityHeaders } from "../http/index.ts";

const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;

export const requestHeaders: Record<string, Parameter> = {
  "X-Request-ID": {
    name: "X-Request-ID",
    in: "header",
    required: false,
    description:
      "An id of your own for this request, 1 to 200 printable ASCII characters. It is echoed and logged.",
    schema: { type: "string", minLength: 1, maxLength: 200 },
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "Unique to this request. A repeat with the same key and body gets the first answer again for 24 hours.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
};

const always: Record<string, Header> = {
  "X-Request-ID": { description: "The id you sent, or one made for this request.", schema: text },
  "Idempotency-Key": {
    description: "The key you sent, or one derived from the request.",
    schema: text,
  },
};

const whereCounted: Record<string, Header> = {
  "X-RateLimit-Limit": {
    description: "Requests that the window allows, burst included.",
    schema: count,
  },
  "X-RateLimit-Remaining": { description: "Requests left in the window.", schema: count },
  "X-RateLimit-Reset": {
    description: "When the oldest counted request leaves the window.",
    schema: { type: "string", format: "date-time" },
  },
  "X-RateLimit-Tier": {
    description: "The tier that the caller is in.",
    schema: { type: "string", enum: ["default", "authenticated", "premium", "admin"] },
  },
};

const sometimes: Record<string, Header> = {
  "Retry-After": { description: "Seconds to wait before the next attempt.", schema: count },
  "Idempotency-Replayed": {
    description: "Present where this is the stored answer to an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
};

// The content security policy is not part of the contract: it differs from page to page.
const { "content-security-policy": _policy, ...fixed } = securityHeaders;
const security = Object.fromEntries(
  Object.entries(fixed).map(([name, value]): [string, Header] => [
    name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()).replace("Dns", "DNS"),
    { description: "The same on every answer.", schema: { type: "string", const: value } },
  ]),
);

export const responseHeaders: Record<string, Header> = {
  ...always,
  ...whereCounted,
  ...sometimes,
  ...security,
};

/** The headers that an answer carries: those of every answer, and those that depend on what is answered. */
export function headersOf(facts: {
  isCounted: boolean;
  isRetried?: boolean;
  isRepeatable?: boolean;
}) {
  const names = [
    ...Object.keys(always),
    ...(facts.isCounted ? Object.keys(whereCounted) : []),
    ...(facts.isRetried ? ["Retry-After"] : []),
    ...(facts.isRepeatable ? ["Idempotency-Replayed"] : []),
    ...Object.keys(security),
  ];
  return Object.fromEntries(
    names.map((name): [string, Reference] => [name, refTo("headers", name)]),
  );
}
