import type { FastifyInstance } from "fastify";
import { answersOf } from "./openapi-answers.ts";
import type { Components, OpenApiDocument, Operation, Server } from "./openapi-document.ts";
import { errorExamples } from "./openapi-errors.ts";
import { credentials } from "./openapi-facts.ts";
import { requestHeaders, responseHeaders } from "./openapi-headers.ts";
import { parametersOf, requestBodyOf } from "./openapi-input.ts";
import { apiRoutes, collectRoutes, documentedRoute } from "./openapi-routes.ts";
import type { DocumentedRoute } from "./openapi-routes.ts";
import { createSchemas } from "./openapi-schemas.ts";
import type { Schemas } from "./openapi-schemas.ts";

export { documentedRoutes, servedRoutes } from "./openapi-routes.ts";

export interface ApiFacts {
  version: string;
  /** Addresses of the service's roots. Paths are complete, so of each address the origin counts. */
  servers: readonly string[];
}

const methods = new Set(["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"]);

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null)
    Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

/** Where a route answers on one host only, that host. */
function serversOf({ options }: DocumentedRoute, servers: Server[]): { servers?: Server[] } {
  const host: unknown = options.constraints?.["host"];
  if (host === undefined || servers.length < 2) return {};
  return { servers: servers.filter(({ url }) => new URL(url).host === host) };
}

function operationOf(
  route: DocumentedRoute,
  servers: Server[],
  components: Components,
  schemas: Schemas,
): Operation {
  const { operationId, schema, config } = route;
  const requestBody = requestBodyOf(route, schemas);
  return {
    operationId,
    tags: schema.tags,
    summary: schema.summary,
    ...(schema.description && { description: schema.description }),
    ...serversOf(route, servers),
    security: config.credential ? [{ [config.credential]: [] }] : [],
    ...(config.limitPerMinute !== undefined && { "x-limit-per-minute": config.limitPerMinute }),
    parameters: parametersOf(route, schemas),
    ...(requestBody && { requestBody }),
    responses: answersOf(route, schemas, components.responses),
  };
}

function build(routes: DocumentedRoute[], facts: ApiFacts): OpenApiDocument {
  const schemas = createSchemas();
  const components: Components = {
    schemas: schemas.components,
    responses: {},
    parameters: requestHeaders,
    headers: responseHeaders,
    examples: errorExamples,
    securitySchemes: Object.fromEntries(
      Object.entries(credentials).map(([name, { scheme }]) => [name, scheme]),
    ),
  };
  const servers = [...new Set(facts.servers.map((url) => new URL(url).origin))].map((url) => ({
    url,
  }));
  const paths: OpenApiDocument["paths"] = {};
  const taken = new Set<string>();
  for (const route of routes) {
    const { method, path, operationId } = route;
    if (!methods.has(method)) throw new Error(`OpenAPI has no word for ${method} ${path}`);
    if (taken.has(operationId))
      throw new Error(`two routes are called ${operationId}, one is ${method} ${path}`);
    taken.add(operationId);
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: operationOf(route, servers, components, schemas),
    };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Herald API",
      version: facts.version,
      description: "Publish and schedule posts to eight social platforms with one call.",
    },
    servers,
    tags: [...new Set(routes.flatMap(({ schema }) => schema.tags))].map((name) => ({ name })),
    paths,
    components,
  };
}

/**
 * Describes every route registered after this call, from the schemas that validate it. The document is built when it is
 * first asked for, which must be after the last route.
 */
export function describeRoutes(app: FastifyInstance, facts: ApiFacts): () => OpenApiDocument {
  collectRoutes(app);
  let document: OpenApiDocument | undefined;
  return () => (document ??= freeze(build(apiRoutes(app).flatMap(documentedRoute), facts)));
}
