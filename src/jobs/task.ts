import type { Logger } from "pino";
import type { ZodType, output } from "zod";

/** What an enqueuer has to know of a task. */
export interface TaskKind<Schema extends ZodType = ZodType> {
  name: `${string}.${string}`;
  payload: Schema;
  /** 25 unless told, which with its growing pauses is about four days. */
  maxAttempts?: number;
}

export interface JobContext {
  jobId: string;
  attempt: number;
  isLastAttempt: boolean;
  log: Logger;
  /** Aborted when the worker can't wait any longer for the job to end, or was declared dead and lost it. */
  signal: AbortSignal;
}

export interface Task<Schema extends ZodType = ZodType> extends TaskKind<Schema> {
  /**
   * May run twice for one job, and both at once if this process was cut off from the database and declared dead:
   * make the second run harmless, or check state first.
   */
  run(payload: output<Schema>, context: JobContext): Promise<void>;
}

export function defineTask<Schema extends ZodType>(task: Task<Schema>): Task<Schema> {
  return task;
}

/** Thrown by a task that was told to wait. The attempt does not count: nothing failed, somebody said "not now". */
export class RetryLater extends Error {
  readonly seconds: number;

  constructor(when: Date | number, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "RetryLater";
    this.seconds = when instanceof Date ? (when.getTime() - Date.now()) / 1_000 : when;
    if (Number.isNaN(this.seconds))
      throw new RangeError("RetryLater needs a time", { cause: this });
  }
}

/** Thrown by a task that no further attempt can help. The job is dead at once. */
export class Abandon extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "Abandon";
  }
}
