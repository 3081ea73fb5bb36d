import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The SHA-256, in hex, of the functions key that the request came with. */
    functionKey: string | null;
  }
}

/** For what runs behind the guard. */
export function functionKeyOf({ functionKey }: FastifyRequest): string {
  if (functionKey === null) throw new Error("this route is behind the key guard");
  return functionKey;
}

/** All keys are compared, digest with digest, so that the time says nothing about any of them. */
export function createKeyGuard(keys: readonly string[]) {
  const digests = keys.map((key) => hash("sha256", key, "buffer"));
  return (request: FastifyRequest): void => {
    const header = request.headers["x-api-key"];
    const given = hash("sha256", typeof header === "string" ? header : "", "buffer");
    const fitting = digests.filter((digest) => timingSafeEqual(digest, given));
    if (fitting.length === 0)
      throw new AppError("forbidden", "Missing or invalid x-api-key header");
    request.functionKey = given.toString("hex");
  };
}
