import { z } from "zod";
import type { Pool } from "../db/index.ts";
import { defineTask } from "../jobs/index.ts";
import { failAbandoned } from "./queries.ts";

/** Says of transcriptions whose process died that they failed. Their credits are given back with all lost holds. */
export function abandonedTask(db: Pool) {
  return defineTask({
    name: "transcription.abandoned",
    payload: z.looseObject({}),
    async run(_payload, { log }) {
      log.info({ failed: await failAbandoned(db) }, "abandoned transcriptions marked");
    },
  });
}
