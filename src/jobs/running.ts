import { batched } from "../db/index.ts";
import type { Query } from "./patient-pool.ts";
import { writeRunning } from "./queries.ts";

/** The jobs whose code runs in this process, as the database knows them. */
export interface Running {
  /** Whether the job may run: not if this worker was declared dead, as the job may be another's then. */
  begin(jobId: string): Promise<boolean>;
  end(jobId: string): void;
  count(): number;
  /** How many jobs have begun or ended so far. */
  progress(): number;
}

export function trackRunning(query: Query, workerId: number): Running {
  const known = new Set<string>();
  let count = 0;
  let progress = 0;
  // One write at a time: it carries all that are known, and jobs that come meanwhile share the next one.
  const announce = batched<string, boolean>(
    async (jobIds) => {
      const isRegistered = await writeRunning(query, workerId, [...known]);
      return jobIds.map(() => isRegistered);
    },
    { maxItems: 1_000, maxInFlight: 1 },
  );
  return {
    async begin(jobId) {
      known.add(jobId);
      const isOurs = await announce(jobId).catch((error: unknown) => {
        known.delete(jobId);
        throw error;
      });
      if (isOurs) {
        count += 1;
        progress += 1;
      } else known.delete(jobId);
      return isOurs;
    },
    end(jobId) {
      known.delete(jobId);
      count -= 1;
      progress += 1;
    },
    count: () => count,
    progress: () => progress,
  };
}
