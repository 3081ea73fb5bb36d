// Who may pass, and how often: the gate in front of every route (identity, tiers, endpoint limits) on PostgreSQL or
// Redis, and its daily clean-up. It does not say what a caller may do once inside.
export { cleanUpTask } from "./clean-up.ts";
export type { GateStore } from "./gate-store.ts";
export { createGate } from "./gate.ts";
export type { Gate } from "./gate.ts";
export { countStranger, createBucketGuard, createGuard } from "./guard.ts";
export { createPostgresStore } from "./postgres-store.ts";
export { createRedisStore } from "./redis-store.ts";
