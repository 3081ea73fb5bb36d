import type { FastifyInstance } from "fastify";

const defaultSeconds = 30;

/** A body that has not arrived in time is answered like any request that trickles in, and its connection closed. */
export function limitBodies(app: FastifyInstance): void {
  app.addHook("preParsing", (request, reply, _payload, done) => {
    const { raw, routeOptions, headers } = request;
    if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined)
      return done();
    const seconds = routeOptions.config.bodySeconds ?? defaultSeconds;
    const late = Object.assign(new Error("the body is late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
    const timer = setTimeout(() => {
      if (!raw.complete) app.server.emit("clientError", late, raw.socket);
    }, seconds * 1_000);
    const stop = (): void => clearTimeout(timer);
    raw.once("end", stop).once("close", stop);
    reply.raw.once("close", stop);
    done();
  });
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** How long a request's body may take to arrive; 30 unless told. */
    bodySeconds?: number;
  }
}
