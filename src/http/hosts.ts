import type { FastifyServerOptions } from "fastify";

type RouterOptions = NonNullable<FastifyServerOptions["routerOptions"]>;
type Strategy = NonNullable<NonNullable<RouterOptions["constraints"]>[string]>;
type RouteHandler = Parameters<ReturnType<Strategy["storage"]>["set"]>[1];

const form = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;
const defaultPort = /:(80|443)$/;

export const isHost = (header: string): boolean => form.test(header);

/** One spelling for each host, so that `API.example:443` is `api.example`. */
const normalHost = (header: string): string => header.toLowerCase().replace(defaultPort, "");

/** Tells routes on hosts of their own apart, whatever the spelling. */
export const hostStrategy: Strategy = {
  name: "host",
  storage() {
    const handlers = new Map<string, RouteHandler>();
    return {
      get: (host) => handlers.get(host) ?? null,
      set: (host, handler) => void handlers.set(normalHost(host), handler),
    };
  },
  deriveConstraint: (request) => normalHost(request.headers.host ?? ""),
};
