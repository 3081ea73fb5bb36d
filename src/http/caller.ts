// What the gate has found out about who is calling. Declared here, so that every room can read it from the request.
export interface Caller {
  userId: string;
  /** Absent where an ID token, not an API key, proved who is calling. */
  keyId?: string;
  keyName?: string;
  tier: string;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
  }
}
