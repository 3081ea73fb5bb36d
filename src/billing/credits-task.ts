import { z } from "zod";
import type { Pool } from "../db/index.ts";
import { defineTask } from "../jobs/index.ts";
import { expireEnded, releaseExpiredHolds } from "./credits.ts";

/** Ends what is over. Where credits roll over, a period's end takes nothing, renewed or not. */
export function creditsTask(db: Pool, { rollsOver }: { rollsOver: boolean }) {
  return defineTask({
    name: "billing.credits",
    payload: z.looseObject({}),
    async run(_payload, { log }) {
      const released = await releaseExpiredHolds(db);
      const ended = rollsOver ? 0 : await expireEnded(db);
      log.info({ released, ended }, "credits of ended periods and lost holds settled");
    },
  });
}
