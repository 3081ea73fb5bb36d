import type { GateStore } from "../src/limits/index.ts";

const place = { isAdmitted: true, capacity: 200, used: 1, resetMs: Date.now() + 60_000 };

/** Everybody is known, subscribed and within every limit. */
export const gateWithoutDatabase: GateStore = {
  ask: async () => ({
    keyState: "valid",
    userId: "user",
    keyName: null,
    subscriptionState: "active",
    tier: "premium",
    global: place,
    endpoint: place,
    askedMs: Date.now(),
  }),
  take: async () => ({ place, askedMs: Date.now() }),
  close: () => Promise.resolve(),
};
