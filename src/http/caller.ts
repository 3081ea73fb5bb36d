import type { FastifyRequest } from "fastify";

// What the gate has found out about who is calling. Declared here, so that every room can read it from the request.
export interface Caller {
  userId: string;
  /** Absent where an ID token, not an API key, proved who is calling. */
  keyId?: string;
  keyName?: string;
  tier: string;
}

/** For handlers behind the gate, where there always is one. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error("this route is behind the gate");
  return request.caller;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
  }
}
