import { hash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { wrongHeader } from "./error-body.ts";
import { canonicalJson } from "./json.ts";

const acceptable = /^[\x20-\x7e]{1,255}$/;

/** The endpoint as idempotency and limits know it: method and pattern, whatever the parameters. */
export function endpointOf(request: FastifyRequest): string {
  return `${request.method} ${request.routeOptions.url ?? ""}`;
}

/**
 * The client's key, or one derived from what makes a repeat a repeat: the same request id and body at the same
 * endpoint. Two separate requests have different request ids, so two posts with the same text stay two.
 */
export function idempotencyKeyOf(request: FastifyRequest): string {
  const given = request.headers["idempotency-key"];
  if (typeof given === "string" && acceptable.test(given)) return given;
  return hash("sha256", `${endpointOf(request)}\0${request.id}\0${bodyTextOf(request)}`);
}

const bodyTexts = new WeakMap<object, string>();

/** The body in its canonical text, made once: the handler needs it, and the answer's header needs it again. */
export function bodyTextOf({ body }: FastifyRequest): string {
  if (typeof body !== "object" || body === null) return canonicalJson(body);
  const known = bodyTexts.get(body);
  if (known !== undefined) return known;
  const text = canonicalJson(body);
  bodyTexts.set(body, text);
  return text;
}

/** Refuses keys that can't be kept, and echoes the key on every response of the public API. */
export function echoIdempotencyKeys(app: FastifyInstance): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const given = request.headers["idempotency-key"];
    const isAcceptable =
      given === undefined || (typeof given === "string" && acceptable.test(given));
    done(
      isAcceptable
        ? undefined
        : wrongHeader("idempotency-key", "must be 1 to 255 printable ASCII characters"),
    );
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    if (request.routeOptions.config.isGated !== false)
      reply.header("idempotency-key", idempotencyKeyOf(request));
    done();
  });
}
