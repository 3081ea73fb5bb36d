import type { FastifyContextConfig } from "fastify";
import { statusOfCode } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import type { SecurityScheme } from "./openapi-document.ts";
import type { DocumentedRoute } from "./openapi-routes.ts";

type Credential = NonNullable<FastifyContextConfig["credential"]>;

/** Each credential that a route can ask for: how it is sent, and what is answered without it. */
export const credentials: Record<
  Credential,
  { scheme: SecurityScheme; errors: readonly ErrorCode[] }
> = {
  apiKey: {
    scheme: {
      type: "apiKey",
      in: "header",
      name: "svc-api-key",
      description: "An API key of a user with a subscription.",
    },
    errors: ["unauthorized", "forbidden"],
  },
  idToken: {
    scheme: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The ID token of a signed-in user.",
    },
    errors: ["unauthorized"],
  },
};

/** What any request can be answered with, whatever it asks for. */
export const commonErrors: readonly ErrorCode[] = [
  "validation_error",
  "payload_too_large",
  "request_timeout",
  "headers_too_large",
  "internal_error",
  "service_unavailable",
];

/** Every POST of the versioned API is carried out once per idempotency key. */
export function isRepeatable({ method, path }: Pick<DocumentedRoute, "method" | "path">): boolean {
  return method === "POST" && path.includes("/v1/");
}

/** All errors of a route, by status: those that follow from what it is, and those that it names itself. */
export function errorsOf(route: DocumentedRoute): ErrorCode[] {
  const { path, config } = route;
  const follows: [boolean, ...ErrorCode[]][] = [
    [path.includes("{"), "not_found"],
    [isRepeatable(route), "idempotency_conflict"],
    [config.isGated !== false, "rate_limit_exceeded"],
  ];
  const codes = new Set<ErrorCode>([
    ...follows.flatMap(([isTrue, ...errors]) => (isTrue ? errors : [])),
    ...(config.credential ? credentials[config.credential].errors : []),
    ...(config.errors ?? []),
    ...commonErrors,
  ]);
  return [...codes].sort((one, other) => statusOfCode[one] - statusOfCode[other]);
}
