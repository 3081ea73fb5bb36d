import { z } from "zod";
import { loadConfig } from "./config.ts";
import { createDeps } from "./deps.ts";
import type { Deps } from "./deps.ts";
import { forgetOldOutcomes } from "./http/index.ts";
import { defineTask, startWorker } from "./jobs/index.ts";
import { cleanUpTask } from "./limits/index.ts";
import { createLog } from "./log.ts";
import { stopOnSignals } from "./signals.ts";

/** Runs every job of the service until `stop`. A worker that is stuck ends the process: only a new one helps. */
export async function startJobs(deps: Deps) {
  const { config, db, log } = deps;
  const forgetOutcomes = defineTask({
    name: "http.forgetOutcomes",
    payload: z.looseObject({}),
    run: async () => void (await forgetOldOutcomes(db)),
  });
  const cleanUp = cleanUpTask(db);
  return await startWorker({
    url: config.database.url,
    log,
    concurrency: config.jobs.concurrency,
    tasks: [cleanUp, forgetOutcomes],
    crontab: [
      { task: cleanUp, pattern: "0 2 * * *" },
      { task: forgetOutcomes, pattern: "17 * * * *" },
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
