import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";

/**
 * One line per request. Only the facts named here are logged, so no header, body, query or path value can carry a
 * secret into the log: the route's pattern stands for the address.
 */
export function logRequests(app: FastifyInstance, { log }: { log: Logger }): void {
  app.addHook("onResponse", (request, reply, done) => {
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route: routeOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        ip: request.ip,
        userId: request.caller?.userId,
        code: request.failure?.code,
      },
      "request",
    );
    done();
  });
}

export function routeOf(request: FastifyRequest): string {
  return request.is404 ? "none" : (request.routeOptions.url ?? "none");
}
