import { isIP } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";

/**
 * One line per request. Only the facts named here are logged, so no header, body, query or path value can carry a
 * secret into the log: the route's pattern stands for the address.
 */
export function logRequests(app: FastifyInstance, { log }: { log: Logger }): void {
  app.addHook("onResponse", (request, reply, done) => {
    logRequest(log, request, reply);
    done();
  });
}

export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  log.info(
    {
      requestId: request.id,
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      ip: addressOf(request),
      userId: request.caller?.userId,
      code: request.failure?.code,
    },
    "request",
  );
}

/** The client's address. What a proxy passes on may be no address at all; then it is the proxy's. */
export function addressOf(request: FastifyRequest): string {
  return isIP(request.ip) ? request.ip : (request.socket.remoteAddress ?? "");
}

export function routeOf(request: FastifyRequest): string {
  return request.is404 ? "none" : (request.routeOptions.url ?? "none");
}
