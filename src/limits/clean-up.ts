import { z } from "zod";
import type { Db, Pool } from "../db/index.ts";
import { defineTask } from "../jobs/index.ts";

/** Forgets buckets nobody has used for a day, 500 at most a run. Returns how many. */
export async function cleanUpLimits(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `delete from rate_limit_windows where bucket in (
       select bucket from rate_limit_windows where updated_at < now() - interval '24 hours'
       order by updated_at limit 500 for update skip locked)`,
  );
  return rowCount ?? 0;
}

/** Daily at 02:00 UTC, as the contract says: one attempt and three retries. */
export function cleanUpTask(db: Pool) {
  return defineTask({
    name: "limits.cleanUp",
    payload: z.looseObject({}),
    maxAttempts: 4,
    async run(_payload, { log }) {
      log.info({ removed: await cleanUpLimits(db) }, "rate-limit records removed");
    },
  });
}
