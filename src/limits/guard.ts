import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import { addressOf } from "../http/index.ts";
import type { Gate, Verdict } from "./gate.ts";
import type { Bucket, Place } from "./gate-store.ts";

export type VerifyIdToken = (token: string) => Promise<{ userId: string } | { refused: string }>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Which credential the route wants. Without one the route is open, and limited by address. */
    credential?: "apiKey" | "idToken";
    limitPerMinute?: number;
  }
}

const bearer = /^Bearer ([^\s]+)$/i;

function rateHeaders(place: Place, tier: string) {
  return {
    "x-ratelimit-limit": String(place.capacity),
    "x-ratelimit-remaining": String(Math.max(0, place.capacity - place.used)),
    "x-ratelimit-reset": new Date(place.resetMs).toISOString(),
    "x-ratelimit-tier": tier,
  };
}

function tooMany(retryAfterMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new AppError("rate_limit_exceeded", `Too many requests: please wait ${seconds} seconds`, {
    retryAfterSeconds: seconds,
  });
}

function refuseKey(verdict: Verdict): void {
  if (verdict.keyState === "none")
    throw new AppError("unauthorized", "Missing or invalid svc-api-key header");
  if (verdict.keyState === "unknown") throw new AppError("unauthorized", "Invalid API key");
  if (verdict.keyState === "revoked") throw new AppError("unauthorized", "API key revoked");
  if (verdict.subscriptionState === "none")
    throw new AppError("forbidden", "Subscription required");
  if (verdict.subscriptionState === "inactive") {
    throw new AppError("forbidden", "Subscription inactive or expired");
  }
}

/**
 * The gate as a hook, in the order the contract needs: identify without refusing, count against the global limit,
 * refuse who may not pass, count against the endpoint's limit. It runs before the body is read.
 */
export function createGuard(gate: Gate, verifyIdToken: VerifyIdToken) {
  async function provenUser(request: FastifyRequest): Promise<string | null> {
    const token = bearer.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return null;
    const proven = await verifyIdToken(token);
    if ("userId" in proven) return proven.userId;
    if (proven.refused !== "keys_unavailable") return null;
    throw new AppError(
      "service_unavailable",
      "The issuer of this ID token can't be asked for its keys now",
      {
        retryAfterSeconds: 5,
      },
    );
  }

  return async function guard(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { credential, limitPerMinute } = request.routeOptions.config;
    const rawKey = request.headers["svc-api-key"];
    // An address that does not exist asks for no credential, but a caller who shows one is counted as who they are.
    const takesKey = credential === "apiKey" || request.is404;
    const keyId =
      takesKey && typeof rawKey === "string" && rawKey !== "" ? hash("sha256", rawKey) : null;
    const userId = credential === "idToken" ? await provenUser(request) : null;
    const endpoint =
      limitPerMinute === undefined
        ? null
        : { name: `${request.method} ${request.routeOptions.url}`, capacity: limitPerMinute };

    const verdict = await gate.check({ keyId, userId, ip: addressOf(request), endpoint });
    reply.headers(rateHeaders(verdict.shown, verdict.tier));
    if (verdict.retryAfterMs !== null && verdict.shownScope === "global")
      throw tooMany(verdict.retryAfterMs);
    if (credential === "apiKey") refuseKey(verdict);
    if (credential === "idToken" && userId === null) {
      throw new AppError("unauthorized", "Missing or invalid ID token");
    }
    if (verdict.retryAfterMs !== null) throw tooMany(verdict.retryAfterMs);
    if (verdict.userId !== null) {
      request.caller = {
        userId: verdict.userId,
        tier: verdict.tier,
        ...(keyId === null ? {} : { keyId }),
        ...(verdict.keyName === null ? {} : { keyName: verdict.keyName }),
      };
    }
  };
}

/** Counts what never became a request (broken HTTP) against the address it came from. */
export async function countStranger(gate: Gate, ip: string): Promise<Record<string, string>> {
  const verdict = await gate.check({ keyId: null, userId: null, ip, endpoint: null });
  return rateHeaders(verdict.shown, verdict.tier);
}

/** Counts each request in a bucket of its own, apart from the tiers. */
export function createBucketGuard(gate: Gate, bucketOf: (request: FastifyRequest) => Bucket) {
  return async function guardBucket(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const taken = await gate.take(bucketOf(request));
    if (!taken) return;
    reply.headers(rateHeaders(taken.place, "default"));
    if (taken.retryAfterMs !== null) throw tooMany(taken.retryAfterMs);
  };
}
