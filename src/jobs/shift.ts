import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Pool } from "../db/index.ts";
import { takeLease } from "./lease.ts";
import type { Query } from "./patient-pool.ts";
import { startPatrol } from "./patrol.ts";
import { lockName, retireWorkers } from "./queries.ts";
import { startRunner } from "./runner.ts";
import type { CrontabEntry } from "./runner.ts";
import { trackRunning } from "./running.ts";
import type { Task } from "./task.ts";

export interface ShiftOptions {
  url: string;
  pool: Pool;
  query: Query;
  log: Logger;
  tasks: readonly Task[];
  crontab: readonly CrontabEntry[];
  concurrency: number;
  onWedged: (error: Error) => void;
}

/** Work under one id, until it is stopped, declared dead by another worker, or the library gives up. */
export interface Shift {
  id: number;
  /** Resolves when the id is given up. Never rejects. */
  ended: Promise<void>;
  /** Takes no more jobs. Those that run have `graceMs` to end, then 5 seconds more after their signal; else it rejects. */
  stop(graceMs: number): Promise<void>;
}

const lastCallMs = 5_000;

export async function startShift(options: ShiftOptions): Promise<Shift> {
  const { url, pool, query, tasks, crontab, concurrency, onWedged } = options;
  const lease = await takeLease(url, options.log);
  const log = options.log.child({ worker: lease.id });
  const running = trackRunning(query, lease.id);
  const over = new AbortController();
  const declaredDead = Promise.withResolvers<"declared dead">();
  let isStopping = false;

  const onDeclaredDead = (): void => declaredDead.resolve("declared dead");
  const lockedBy = lockName(lease.id);
  const desk = { query, lockedBy, running, log, signal: over.signal, onDeclaredDead };
  const runner = await startRunner({ tasks, crontab, concurrency, pool }, desk).catch(
    async (error: unknown) => {
      await leave();
      throw error;
    },
  );
  const patrol = startPatrol({
    lease,
    tasks: tasks.map((task) => task.name),
    log,
    progress: () => running.progress(),
    hasRoom: () => !isStopping && running.count() < concurrency,
    isHeld: (jobId) => runner.held.has(jobId),
    onDeclaredDead,
    onWedged,
  });

  async function leave(): Promise<void> {
    try {
      await lease.inSession(async (session) => await retireWorkers(session.query, [lease.id]));
      await lease.close();
    } catch (error) {
      log.warn({ err: error }, "could not sign off; other workers will free what is left");
    }
  }

  async function finish(): Promise<void> {
    const reason = await Promise.race([declaredDead.promise, runner.ended]);
    if (!isStopping) log.error({ reason }, "the worker has to start anew");
    await patrol.stop();
    if (reason === undefined) return await leave();
    // Its jobs are others' now: what still runs is told to end, and not waited for.
    runner.stop();
    over.abort(new Error(`worker ${lease.id} was declared dead`));
    await lease.close();
  }

  const ended = finish();
  return {
    id: lease.id,
    ended,
    async stop(graceMs) {
      isStopping = true;
      runner.stop();
      if (await within(ended, graceMs)) return;
      over.abort(new Error("the worker is stopping"));
      if (await within(ended, lastCallMs)) return;
      throw new Error(`${running.count()} jobs did not end in time`);
    },
  };
}

async function within(promise: Promise<void>, milliseconds: number): Promise<boolean> {
  const decided = new AbortController();
  const late = pause(milliseconds, false, { signal: decided.signal });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    decided.abort();
  }
}
