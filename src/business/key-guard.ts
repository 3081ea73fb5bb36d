import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** The SHA-256, in hex, of the functions key that the request came with; null where it is none of ours. */
    functionKey: string | null;
  }
}

/** For what runs behind the guard. */
export function functionKeyOf({ functionKey }: FastifyRequest): string {
  if (functionKey === null) throw new Error("this route is behind the key guard");
  return functionKey;
}

/** All keys are compared, digest with digest, so that the time says nothing about any of them. */
export function createKeyCheck(keys: readonly string[]) {
  const digests = keys.map((key) => hash("sha256", key, "buffer"));
  return (request: FastifyRequest): boolean => {
    const header = request.headers["x-api-key"];
    const given = hash("sha256", typeof header === "string" ? header : "", "buffer");
    const fitting = digests.filter((digest) => timingSafeEqual(digest, given));
    if (fitting.length > 0) request.functionKey = given.toString("hex");
    return fitting.length > 0;
  };
}
