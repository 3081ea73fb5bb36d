import type { Job, Task as GraphileTask } from "graphile-worker";
import type { Logger } from "pino";
import { prettifyError } from "zod";
import type { Query } from "./patient-pool.ts";
import { postpone, returnJobs, useUpAttempts } from "./queries.ts";
import type { Running } from "./running.ts";
import { Abandon, RetryLater } from "./task.ts";
import type { Task } from "./task.ts";

export interface JobDesk {
  query: Query;
  lockedBy: string;
  running: Running;
  log: Logger;
  signal: AbortSignal;
  onDeclaredDead: () => void;
}

const levels = { succeeded: "info", postponed: "info", failed: "warn", dead: "error" } as const;
type Outcome = keyof typeof levels;

const longestPauseSeconds = 24 * 60 * 60;

/** A task as the library runs it: validated payload, context, one log line, and our own rules for failures. */
export function runnable(task: Task, desk: JobDesk): GraphileTask {
  return async (raw, { job }) => {
    const log = desk.log.child({ task: task.name, jobId: job.id, attempt: job.attempts });
    if (!(await desk.running.begin(job.id))) {
      desk.onDeclaredDead();
      await returnJobs(desk.query, desk.lockedBy, [job.id]);
      throw new Error("not begun: the worker was declared dead");
    }
    const startedAt = performance.now();
    const finish = (outcome: Outcome, error?: unknown): void => {
      const ms = Math.round(performance.now() - startedAt);
      log[levels[outcome]]({ outcome, ms, err: error }, "job");
    };
    try {
      await task.run(parse(task, raw), {
        jobId: job.id,
        attempt: job.attempts,
        isLastAttempt: job.attempts >= job.max_attempts,
        log,
        signal: desk.signal,
      });
      finish("succeeded");
    } catch (error) {
      const outcome = await settle(desk, job, error).catch((cause: unknown) => {
        log.error({ err: cause }, "the outcome of the job could not be written");
        return "failed" as const;
      });
      finish(outcome, error);
      throw error;
    } finally {
      desk.running.end(job.id);
    }
  };
}

function parse(task: Task, raw: unknown): unknown {
  const parsed = task.payload.safeParse(withoutCron(raw));
  if (parsed.success) return parsed.data;
  throw new Abandon(`the payload does not fit ${task.name}: ${prettifyError(parsed.error)}`);
}

/** The library adds the time of the schedule to the payload of a job that came from the crontab. */
function withoutCron(raw: unknown): unknown {
  if (typeof raw !== "object" || raw === null || !("_cron" in raw)) return raw;
  const { _cron, ...payload } = raw;
  return payload;
}

/**
 * What is to become of the job is written while it is still locked; the library then records the error and unlocks it,
 * which keeps a time that lies ahead (migrate.ts). A crash between the two loses neither.
 */
async function settle(desk: JobDesk, job: Job, error: unknown): Promise<Outcome> {
  if (error instanceof RetryLater) {
    const seconds = Math.min(Math.max(error.seconds, 1), longestPauseSeconds);
    await postpone(desk.query, desk.lockedBy, job, seconds);
    return "postponed";
  }
  if (error instanceof Abandon) {
    await useUpAttempts(desk.query, desk.lockedBy, job);
    return "dead";
  }
  return job.attempts >= job.max_attempts ? "dead" : "failed";
}
