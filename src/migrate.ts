import type { Logger } from "pino";
import { loadConfig } from "./config.ts";
import { migrate } from "./db/index.ts";
import { migrateJobs } from "./jobs/index.ts";
import { createLog } from "./log.ts";

/** Brings the whole database, the job queue's part included, to the version of this code. */
export async function migrateAll(url: string, log: Logger): Promise<void> {
  await migrate(url, log, async (client) => await migrateJobs(client));
}

if (import.meta.main) {
  const config = loadConfig(process.env);
  const log = createLog(config.log.level, "migrate");
  await migrateAll(config.database.migrateUrl, log);
  log.info("the database is up to date");
}
