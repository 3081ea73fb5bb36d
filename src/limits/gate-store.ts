// The one question the gate asks per request, and the answer. Two stores answer it: PostgreSQL and Redis.

export const tierNames = ["default", "authenticated", "premium", "admin"] as const;
export type TierName = (typeof tierNames)[number];

export const endpointWindowMs = 60_000;

export interface Question {
  /** SHA-256 of the API key that was presented. */
  keyId: string | null;
  /** The user an ID token has proved. */
  userId: string | null;
  ip: string;
  /** The route's own limit, where it has one. */
  endpoint: { name: string; capacity: number } | null;
}

export interface Identity {
  keyState: "none" | "unknown" | "revoked" | "valid";
  userId: string | null;
  keyName: string | null;
  subscriptionState: "none" | "inactive" | "active";
}

/** What a request found in a bucket. `resetMs` is when the oldest request that counts leaves the window. */
export interface Place {
  isAdmitted: boolean;
  capacity: number;
  used: number;
  resetMs: number;
}

export interface Answer extends Identity {
  tier: TierName;
  global: Place;
  /** Null where the route has no limit of its own, or the request was refused before it was counted there. */
  endpoint: Place | null;
  /** The store's time; `resetMs` is to be read against it. */
  askedMs: number;
}

export interface Bucket {
  name: string;
  capacity: number;
  windowMs: number;
}

export interface GateStore {
  ask(question: Question): Promise<Answer>;
  /** One place in a bucket that needs no identity. */
  take(bucket: Bucket): Promise<{ place: Place; askedMs: number }>;
  close(): Promise<void>;
}
