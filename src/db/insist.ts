import { setTimeout as pause } from "node:timers/promises";
import { isUnavailable } from "./failures.ts";

const retryMs = 250;
const patienceMs = 30_000;

/** Writes what only this process knows, such as a platform's answer: waits out a database that is away for a while. */
export async function insist<Result>(write: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadline) throw error;
      await pause(retryMs);
    }
  }
}
