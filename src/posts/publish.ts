import { z } from "zod";
import { RetryLater, defineTask } from "../jobs/index.ts";
import { PlatformError } from "../platforms/index.ts";
import { fail, publishAs } from "./publish-run.ts";
import type { PublishDeps, Work } from "./publish-run.ts";
import { claimRun, pauseAccount } from "./run-queries.ts";
import { waitSeconds } from "./setbacks.ts";

const maxSetbacks = 8;
const maxAttempts = 50;

/** Decides what a failure means for the run: try again later, or this is the end of it. */
async function handle(work: Work, error: PlatformError): Promise<void> {
  const { db, run, adapter } = work;
  const canRepeat =
    adapter.find !== undefined || (run.doubtMs ?? 0) < (adapter.refusesRepeatsForMs ?? 0);
  const isHopeful = run.setbacks < maxSetbacks && run.attempts < maxAttempts;
  if (error.kind === "unknown" && canRepeat && isHopeful)
    throw new RetryLater(waitSeconds(error, run.attempts), error.message);
  if (error.kind === "retry" && isHopeful) {
    const seconds = waitSeconds(error, run.setbacks);
    if (error.upstreamStatus === 429) await pauseAccount(db, run, seconds);
    throw new RetryLater(seconds, error.message);
  }
  await fail(work, error);
}

/** Publishes one run, once. */
export function publishTask(deps: PublishDeps) {
  return defineTask({
    name: "posts.publish",
    payload: z.object({ runId: z.uuid() }),
    async run({ runId }, { log }) {
      const run = await claimRun(deps.db, runId);
      if (!run) return;
      const adapter = deps.registry.get(run.platform);
      if (!adapter) throw new Error(`there is no adapter for ${run.platform}`);
      if (run.pausedMs > 0)
        throw new RetryLater(run.pausedMs / 1_000, "the platform asked this account to wait");
      const work: Work = { ...deps, run, adapter, post: { text: run.content.text ?? "" }, log };
      try {
        await publishAs(work);
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        await handle(work, error);
      }
    },
  });
}
