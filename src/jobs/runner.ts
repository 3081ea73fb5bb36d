import { EventEmitter } from "node:events";
import { Logger as GraphileLogger, parseCronItems, run } from "graphile-worker";
import type { CronItemOptions, WorkerEvents } from "graphile-worker";
import type { Logger } from "pino";
import type { Pool } from "../db/index.ts";
import { schema } from "./migrate.ts";
import { poolOf } from "./patient-pool.ts";
import { runnable } from "./run-job.ts";
import type { JobDesk } from "./run-job.ts";
import type { Task, TaskKind } from "./task.ts";

export interface CrontabEntry {
  task: TaskKind;
  /** Five fields, in UTC. However many workers there are, each time is enqueued once. */
  pattern: string;
  payload?: Record<string, unknown>;
  options?: Omit<CronItemOptions, "maxAttempts">;
}

export interface RunnerOptions {
  tasks: readonly Task[];
  crontab: readonly CrontabEntry[];
  concurrency: number;
  pool: Pool;
}

export interface Runner {
  /** The jobs that were fetched and neither ended nor went back. */
  held: ReadonlySet<string>;
  /** Resolves when the library has stopped, be it that it was asked to or that it gave up. */
  ended: Promise<void>;
  /** It fetches no more, gives back what waits in memory, and ends when the last running job has. */
  stop(): void;
}

const pollMs = 1_000;

export async function startRunner(options: RunnerOptions, desk: JobDesk): Promise<Runner> {
  const { tasks, crontab, concurrency, pool } = options;
  const events = new EventEmitter() as WorkerEvents;
  // The library locks jobs by a random name. Ours says which worker it is, and is known before the first fetch.
  events.on("pool:create", ({ workerPool }) => (workerPool.id = desk.lockedBy));
  const held = trackHeld(events);
  const runner = await run({
    pgPool: poolOf(desk.query, pool.connect.bind(pool)),
    schema,
    taskList: Object.fromEntries(tasks.map((task) => [task.name, runnable(task, desk)])),
    parsedCronItems: parseCronItems(
      crontab.map(({ task, pattern, payload, options: cron }) => ({
        task: task.name,
        match: pattern,
        payload,
        options: { maxAttempts: task.maxAttempts, ...cron },
      })),
    ),
    concurrency,
    pollInterval: pollMs,
    noHandleSignals: true,
    logger: loggerFor(desk.log),
    events,
    preset: {
      worker: {
        // What waits behind jobs that take long goes back after a second, for others to take.
        localQueue: { size: concurrency * 2, ttl: 1_000 },
        // Without a batch, a completion that fails is a rejection nobody handles, which ends the process.
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  const stop = (): void => {
    runner.stop().catch((error: unknown) => desk.log.debug({ err: error }, "already stopped"));
  };
  return { held, ended: runner.promise, stop };
}

function trackHeld(events: WorkerEvents): ReadonlySet<string> {
  const held = new Set<string>();
  events.on("localQueue:getJobs:complete", ({ jobs }) => jobs.forEach((job) => held.add(job.id)));
  events.on("localQueue:returnJobs", ({ jobs }) => jobs.forEach((job) => held.delete(job.id)));
  events.on("job:complete", ({ job }) => held.delete(job.id));
  return held;
}

// Its "info" is one line per job and start, which we write ourselves; its failures of jobs likewise.
function loggerFor(log: Logger): GraphileLogger {
  return new GraphileLogger(() => (level, message, meta) => {
    const facts = { err: meta["error"] ?? meta["fatalError"] };
    if (level === "error" && meta["failure"] !== true) log.error(facts, message);
    else if (level === "warning") log.warn(facts, message);
    else log.debug(message);
  });
}
