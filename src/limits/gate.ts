import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { isUnavailable } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { tierNames } from "./gate-store.ts";
import type {
  Answer,
  Bucket,
  GateStore,
  Identity,
  Place,
  Question,
  TierName,
} from "./gate-store.ts";
import { LimiterUnavailable } from "./limiter-unavailable.ts";
import { createRefusals } from "./refusals.ts";

/** `shown` is the limit the headers speak of: of those that apply, the one with the fewest places left. */
export interface Verdict extends Identity {
  tier: TierName;
  shown: Place;
  shownScope: "global" | "endpoint";
  /** Null where the request may pass. */
  retryAfterMs: number | null;
}

export interface Gate {
  check(question: Question): Promise<Verdict>;
  /** One place in a bucket of its own. Null where the limit is off (capacity 0) or the store is down and may be. */
  take(bucket: Bucket): Promise<{ place: Place; retryAfterMs: number | null } | null>;
  close(): Promise<void>;
}

export interface GateDeps {
  store: GateStore;
  limits: Config["limits"];
  log: Logger;
  countFailure(): void;
}

const left = (place: Place): number => place.capacity - place.used;

function verdictOf(answer: Answer): Verdict {
  const { global, endpoint, askedMs, ...identity } = answer;
  const isEndpointShorter =
    endpoint !== null && (!endpoint.isAdmitted || left(endpoint) < left(global));
  const shown = isEndpointShorter ? endpoint : global;
  return {
    ...identity,
    shown,
    shownScope: isEndpointShorter ? "endpoint" : "global",
    retryAfterMs: shown.isAdmitted ? null : shown.resetMs - askedMs,
  };
}

export function createGate({ store, limits, log, countFailure }: GateDeps): Gate {
  const refusals = createRefusals<Verdict>();
  const fullBuckets = createRefusals<Place>();

  /** What the setting says about a request that could not be counted. */
  function withoutLimiter(error: unknown): LimiterUnavailable {
    countFailure();
    log.error({ err: error, onFailure: limits.onFailure }, "the limiter's store is not available");
    if (limits.onFailure === "closed") {
      throw new AppError("service_unavailable", "Requests can't be counted now, please try again", {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
    return error instanceof LimiterUnavailable ? error : new LimiterUnavailable(error);
  }

  async function ask(question: Question): Promise<Verdict> {
    try {
      return verdictOf(await store.ask(question));
    } catch (error) {
      const isAnonymous = question.keyId === null && question.userId === null;
      // With PostgreSQL gone nobody can be told apart: only what needs no identity may pass uncounted.
      if (!(error instanceof LimiterUnavailable) && !(isAnonymous && isUnavailable(error)))
        throw error;
      const { identity, tier } = withoutLimiter(error);
      const { capacity = 0, windowMs = 0 } = limits.tiers[tierNames.indexOf(tier)] ?? {};
      const shown = { isAdmitted: true, capacity, used: 0, resetMs: Date.now() + windowMs };
      return { ...identity, tier, shown, shownScope: "global", retryAfterMs: null };
    }
  }

  return {
    async check(question) {
      const caller = `${question.keyId ?? question.userId ?? ""}|${question.ip}`;
      const callerHere = `${caller}|${question.endpoint?.name ?? ""}`;
      const known = refusals.recall(caller) ?? (question.endpoint && refusals.recall(callerHere));
      if (known) return { ...known.answer, retryAfterMs: known.freeInMs };
      const verdict = await ask(question);
      if (verdict.retryAfterMs !== null) {
        refusals.remember(
          verdict.shownScope === "endpoint" ? callerHere : caller,
          verdict,
          verdict.retryAfterMs,
        );
      }
      return verdict;
    },
    async take(bucket) {
      if (bucket.capacity === 0) return null;
      const known = fullBuckets.recall(bucket.name);
      if (known) return { place: known.answer, retryAfterMs: known.freeInMs };
      try {
        const { place, askedMs } = await store.take(bucket);
        if (place.isAdmitted) return { place, retryAfterMs: null };
        const retryAfterMs = place.resetMs - askedMs;
        fullBuckets.remember(bucket.name, place, retryAfterMs);
        return { place, retryAfterMs };
      } catch (error) {
        if (!(error instanceof LimiterUnavailable) && !isUnavailable(error)) throw error;
        withoutLimiter(error);
        return null;
      }
    },
    close: () => store.close(),
  };
}
