import { z } from "zod";
import type { Pool } from "../db/index.ts";
import { defineTask } from "../jobs/index.ts";

/** When a submission's time has come: one run and one publish job per target, all in one transaction. */
export function orchestrateTask(db: Pool) {
  return defineTask({
    name: "posts.orchestrate",
    payload: z.object({ submissionId: z.uuid() }),
    async run({ submissionId }) {
      await db.query({
        name: "orchestrate",
        text: "select orchestrate($1)",
        values: [submissionId],
      });
    },
  });
}
