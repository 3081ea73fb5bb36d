import { z } from "zod";
import { deleteExpiredSessions } from "./auth/index.ts";
import { abandonedTask } from "./transcription/index.ts";
import { creditsTask, endDoublesTask } from "./billing/index.ts";
import { loadConfig } from "./config.ts";
import {
  deleteExpiredStates,
  openAccount,
  rotateTokensTask,
  saveAuthorUrn,
} from "./connections/index.ts";
import { createDeps } from "./deps.ts";
import type { Deps } from "./deps.ts";
import { forgetOldOutcomes } from "./http/index.ts";
import { defineTask, startWorker } from "./jobs/index.ts";
import { cleanUpTask } from "./limits/index.ts";
import { createLog } from "./log.ts";
import { cleanUpMediaTask, removeTask } from "./media/index.ts";
import { orchestrateTask, publishTask, reconcileTask } from "./posts/index.ts";
import { stopOnSignals } from "./signals.ts";

/** Runs every job of the service until `stop`. A worker that is stuck ends the process: only a new one helps. */
export async function startJobs(deps: Deps) {
  const { config, db, log } = deps;
  const forget = defineTask({
    name: "worker.forget",
    payload: z.looseObject({}),
    async run() {
      await forgetOldOutcomes(db);
      await deleteExpiredSessions(db);
      await deleteExpiredStates(db);
    },
  });
  const cleanUp = cleanUpTask(db);
  const orchestrate = orchestrateTask(db);
  const rotate = rotateTokensTask(deps);
  const publishing = {
    ...deps,
    openAccount: async (wanted: Parameters<typeof openAccount>[1]) =>
      await openAccount(deps, wanted),
    saveAuthorUrn: async (account: Parameters<typeof saveAuthorUrn>[1], urn: string) =>
      await saveAuthorUrn(db, account, urn),
  };
  const cleanUpMedia = cleanUpMediaTask({ ...deps, incomingDir: config.media.incomingDir });
  const credits = creditsTask(db, deps.billing);
  const abandoned = abandonedTask(db);
  const publish = publishTask(publishing);
  const reconcile = reconcileTask(publishing);
  return await startWorker({
    url: config.database.url,
    log,
    concurrency: config.jobs.concurrency,
    tasks: [
      abandoned,
      cleanUp,
      cleanUpMedia,
      credits,
      endDoublesTask({ db, stripe: deps.billing.stripe }),
      removeTask(deps.storage),
      forget,
      rotate,
      orchestrate,
      publish,
      reconcile,
    ],
    crontab: [
      { task: cleanUp, pattern: "0 2 * * *" },
      { task: forget, pattern: "17 * * * *" },
      { task: rotate, pattern: "43 3 * * *" },
      { task: abandoned, pattern: "*/10 * * * *" },
      { task: credits, pattern: "*/10 * * * *" },
      { task: cleanUpMedia, pattern: "29 * * * *" },
      { task: reconcile, pattern: "*/10 * * * *" },
    ],
    onWedged: (error) => {
      log.fatal({ err: error }, "the worker is stuck");
      log.flush(() => process.exit(1));
    },
  });
}

if (import.meta.main) {
  const config = loadConfig(process.env);
  const log = createLog(config.log.level, "worker");
  const deps = createDeps(config, log);
  const worker = await startJobs(deps);
  stopOnSignals(log, async () => {
    await worker.stop();
    await deps.close();
  });
}
