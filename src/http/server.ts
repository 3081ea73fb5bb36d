import { fastify } from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { createClientErrors } from "./client-error.ts";
import type { RateHeaders } from "./client-error.ts";
import "./caller.ts";
import { limitBodies } from "./body-deadline.ts";
import { errorBody, toAppError, wrongHeader } from "./error-body.ts";
import { hostStrategy } from "./hosts.ts";
import { parseJson } from "./json.ts";
import { requestIdFrom } from "./request-id.ts";
import { checkRequest } from "./request-checks.ts";
import { logRequest, logRequests } from "./request-log.ts";
import { securityHeaders } from "./security-headers.ts";
import { validatorCompiler } from "./validation.ts";

export const maxBodyBytes = 1_048_576;
const jsonInUtf8 = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

export interface HttpDeps {
  config: Config;
  log: Logger;
  clock: Clock;
  /** Runs before anything is refused or read, for every request that a route does not exempt. */
  guard(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** The same for what never became a request. */
  rateHeaders: RateHeaders;
}

/** A Fastify instance with everything that holds for each request of the service, and no routes. */
export function createHttp({ config, log, clock, guard, rateHeaders }: HttpDeps): FastifyInstance {
  const { trustProxy } = config.server;
  const clientErrors = createClientErrors({ clock, log, rateHeaders });
  const app = fastify({
    loggerInstance: undefined,
    genReqId: (request) => requestIdFrom(request.headers["x-request-id"]),
    requestIdHeader: false,
    bodyLimit: maxBodyBytes,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    // Bodies have deadlines of their own (body-deadline.ts): an upload may take its time.
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    // Requests on kept-alive connections are still answered while the server drains.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 500, constraints: { host: hostStrategy } },
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 16_384,
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => clientErrors.handle(error, socket),
    frameworkErrors: (error, request, reply) => {
      // Such a request meets no hook, so it is counted here.
      void rateHeaders(request.ip)
        .then((headers) => void reply.headers(headers))
        .catch((cause: unknown) => log.warn({ err: cause }, "a bad request was not counted"))
        .then(() => {
          answer(error, request, reply);
          logRequest(log, request, reply);
        });
    },
  });

  function answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = request.raw.readableAborted ? ofUnfinished(thrown) : toAppError(thrown);
    request.failure = error;
    if (error.status >= 500) log.error({ err: thrown, requestId: request.id }, error.message);
    if (error.retryAfterSeconds !== undefined)
      reply.header("retry-after", String(error.retryAfterSeconds));
    const debug = config.isDevelopment ? thrown : undefined;
    setCommonHeaders(request, reply);
    const { errorExtras, hidesRequestId } = request.routeOptions.config;
    const requestId = hidesRequestId ? {} : { requestId: request.id };
    const body = errorBody(error, { ...requestId, now: clock.now(), debug });
    void reply.code(error.status).send({ ...errorExtras, ...body });
  }

  function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
    reply.headers(securityHeaders).header("x-request-id", request.id);
  }

  app.decorateRequest("failure", null);
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request, reply) => {
    setCommonHeaders(request, reply);
    if (request.routeOptions.config.isGated !== false) await guard(request, reply);
    checkRequest(request);
  });
  logRequests(app, { log });
  limitBodies(app);

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    if (request.headers["content-encoding"] !== undefined) {
      done(wrongHeader("content-encoding", "compressed bodies are not accepted"));
    } else if (body.length > 0 && !jsonInUtf8.test(request.headers["content-type"] ?? "")) {
      done(wrongHeader("content-type", "must be application/json in UTF-8"));
    } else {
      try {
        done(null, parseJson(body));
      } catch (error) {
        done(error as Error);
      }
    }
  });

  clientErrors.follow(app.server);
  // An expectation we can't meet is refused like any other bad header, not by the server on its own.
  app.server.on("checkExpectation", (request, response) =>
    app.server.emit("request", request, response),
  );
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.setErrorHandler(answer);
  app.setNotFoundHandler((request, reply) => answer(notFound(request), request, reply));
  return app;
}

/** The client went away before it had sent everything: whatever failed then is no failure of ours. */
function ofUnfinished(thrown: unknown): AppError {
  const error = toAppError(thrown);
  return error.status < 500
    ? error
    : new AppError("validation_error", "The request was cut off", { cause: thrown });
}

export function notFound(request: FastifyRequest): AppError {
  return new AppError(
    "not_found",
    `There is no ${request.method} ${request.url.split("?")[0]?.slice(0, 200)}`,
  );
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** What stands beside `error` in the answers of a function. */
    errorExtras?: Record<string, unknown>;
    /** The media proxy's errors carry no request id. */
    hidesRequestId?: boolean;
    /** False for routes that guard themselves otherwise: probes, functions, media, the identity provider. */
    isGated?: boolean;
  }
  interface FastifyRequest {
    /** The error this request was answered with. */
    failure: AppError | null;
  }
}
