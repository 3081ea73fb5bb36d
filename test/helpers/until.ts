import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "../../src/db/index.ts";

/** Looks until it is so, and fails when it is not in time. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  withinMs = 5_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `not so within ${withinMs} ms: ${String(isSo)}`);
    await pause(20);
  }
}

/** Whether every connection is back: nothing that was asked is still being done. */
export const isIdle = ({ waitingCount, idleCount, totalCount }: Pool): boolean =>
  waitingCount === 0 && idleCount === totalCount;
