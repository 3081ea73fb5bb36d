import { performance } from "node:perf_hooks";

const maxRemembered = 10_000;

/**
 * Remembers full buckets, so that a caller who goes on knocking costs no query. A bucket can't free before its oldest
 * request leaves the window, so nothing is refused here that the store would admit. The clock is this process's own
 * monotonic one: `freeInMs` is a span, so no two clocks are compared.
 */
export function createRefusals<Answer>(now: () => number = () => performance.now()) {
  const refusals = new Map<string, { answer: Answer; freeAt: number }>();

  return {
    remember(caller: string, answer: Answer, freeInMs: number): void {
      if (refusals.size >= maxRemembered) {
        const [oldest = ""] = refusals.keys();
        refusals.delete(oldest);
      }
      refusals.set(caller, { answer, freeAt: now() + freeInMs });
    },
    recall(caller: string): { answer: Answer; freeInMs: number } | undefined {
      const refusal = refusals.get(caller);
      if (!refusal) return undefined;
      const freeInMs = refusal.freeAt - now();
      if (freeInMs > 0) return { answer: refusal.answer, freeInMs };
      refusals.delete(caller);
      return undefined;
    },
  };
}
