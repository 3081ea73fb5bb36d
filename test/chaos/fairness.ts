import { setTimeout as pause } from "node:timers/promises";
import { acceptances, percentile, queueUp } from "./queue-up.ts";
import type { Queued } from "./queue-up.ts";
import { setStage } from "./stage.ts";

// One user queues a mountain; ten others come a second later with a handful each.

export interface FairnessReport {
  mountain: number;
  othersPosts: number;
  othersP50Ms: number;
  othersP95Ms: number;
}

export async function queueFairly(mountain: number): Promise<FairnessReport> {
  const stage = await setStage(11, { workers: 2, apis: 1 });
  try {
    await queueUp(
      stage,
      0,
      Array.from({ length: mountain }, () => null),
      "mountain",
    );
    await pause(1_000);
    const queuedAt = Date.now();
    const handfuls: Queued[] = [];
    for (let user = 1; user <= 10; user++) {
      handfuls.push(
        ...(await queueUp(
          stage,
          user,
          Array.from({ length: 10 }, () => null),
          `handful ${user}`,
        )),
      );
    }
    const deadline = performance.now() + 60_000;
    let accepted = await acceptances(stage);
    while (handfuls.some(({ text }) => !accepted.has(text)) && performance.now() < deadline) {
      await pause(500);
      accepted = await acceptances(stage);
    }
    const waits = handfuls.map(
      ({ text }) => (accepted.get(text)?.[0]?.getTime() ?? Number.POSITIVE_INFINITY) - queuedAt,
    );
    return {
      mountain,
      othersPosts: handfuls.length,
      othersP50Ms: Math.round(percentile(waits, 0.5)),
      othersP95Ms: Math.round(percentile(waits, 0.95)),
    };
  } finally {
    await stage.stop();
  }
}
