import type { Identity, TierName } from "./gate-store.ts";

/** The limiter's store did not answer, but who is calling is known (where anybody asked). */
export class LimiterUnavailable extends Error {
  readonly identity: Identity;
  readonly tier: TierName;

  constructor(cause: unknown, identity: Identity = nobody, tier: TierName = "default") {
    super("the limiter's store did not answer", { cause });
    this.name = "LimiterUnavailable";
    this.identity = identity;
    this.tier = tier;
  }
}

export const nobody: Identity = {
  keyState: "none",
  userId: null,
  keyName: null,
  subscriptionState: "none",
};
