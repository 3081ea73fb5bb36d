import type { FastifyContextConfig, FastifyInstance, FastifySchema, RouteOptions } from "fastify";
import type { ErrorCode } from "../errors.ts";
import type { OpenApiDocument } from "./openapi-document.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** True for what is no part of the API: the web app's pages and files. */
    isUndocumented?: boolean;
    /** What the route can answer beside the errors that follow from its method, credential and input. */
    errors?: readonly ErrorCode[];
  }
  interface FastifySchema {
    tags?: readonly string[];
    summary?: string;
    description?: string;
    /** Made from method and path where absent. */
    operationId?: string;
  }
}

/** One method of one address. Options are read late: a scope's own hooks may still change them. */
export interface Route {
  method: string;
  /** As Fastify writes it; `path` is the same as OpenAPI does. */
  url: string;
  path: string;
  options: RouteOptions;
}

export interface DocumentedRoute extends Route {
  operationId: string;
  schema: FastifySchema & Required<Pick<FastifySchema, "tags" | "summary" | "response">>;
  config: FastifyContextConfig;
}

const routesOf = new WeakMap<FastifyInstance, Omit<Route, "path">[]>();

export function collectRoutes(app: FastifyInstance): void {
  const routes: Omit<Route, "path">[] = [];
  routesOf.set(app, routes);
  app.addHook("onRoute", (options) => {
    const { url } = options;
    for (const method of [options.method].flat()) routes.push({ method, url, options });
  });
}

/** Fastify's pattern as OpenAPI's. What a wildcard matches is one parameter, `{path}`. */
function toTemplate(url: string): string {
  const template = url.replace(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
  if (/[:*?()]/.test(template)) throw new Error(`the address ${url} can't be described`);
  return template;
}

/** Every route that is part of the API. A HEAD beside a GET says nothing of its own. */
export function apiRoutes(app: FastifyInstance): Route[] {
  const routes = routesOf.get(app) ?? [];
  const readable = new Set(routes.filter(({ method }) => method === "GET").map(({ url }) => url));
  return routes
    .filter(({ options }) => options.config?.isUndocumented !== true)
    .filter(({ method, url }) => method !== "HEAD" || !readable.has(url))
    .map((route) => ({ ...route, path: toTemplate(route.url) }));
}

function operationIdOf({ method, path }: Route): string {
  const words = path.replaceAll("{", "by-").match(/[A-Za-z0-9]+/g) ?? [];
  return (
    method.toLowerCase() +
    words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")
  );
}

/** The route with what its room says about it; nothing where the room says too little to describe it. */
export function documentedRoute(route: Route): DocumentedRoute | [] {
  const { schema = {}, config = {} } = route.options;
  const { tags, summary, response, operationId = operationIdOf(route) } = schema;
  if (!tags?.length || !summary || !response) return [];
  return { ...route, operationId, config, schema: { ...schema, tags, summary, response } };
}

/** The API as it is served, as `GET /v1/posts/{id}`; to be compared with the document, both ways. */
export function servedRoutes(app: FastifyInstance): string[] {
  return apiRoutes(app)
    .map(({ method, path }) => `${method} ${path}`)
    .sort();
}

export function documentedRoutes(document: OpenApiDocument): string[] {
  return Object.entries(document.paths)
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .sort();
}
