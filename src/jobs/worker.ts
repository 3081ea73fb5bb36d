import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { createPool, insist, isUnavailable, serviceRole } from "../db/index.ts";
import { patientQuery } from "./patient-pool.ts";
import type { CrontabEntry } from "./runner.ts";
import { startShift } from "./shift.ts";
import type { Shift } from "./shift.ts";
import type { Task } from "./task.ts";

export interface WorkerOptions {
  /** Leads to the database itself: a pooler between would break the lock by which others see that we live. */
  url: string;
  log: Logger;
  tasks: readonly Task[];
  crontab?: readonly CrontabEntry[];
  concurrency: number;
  /** Alive, but not working although it could. Only a new process helps. */
  onWedged: (error: Error) => void;
  /** How long jobs that run may take to end when the worker is stopped, before their signal is aborted. */
  graceMs?: number;
}

export interface Worker {
  /** Changes when the worker had to start anew: it was declared dead although it was not, or the library gave up. */
  readonly id: number;
  /** Rejects if a job did not end in time: the process must end then, and others take the job over. */
  stop(): Promise<void>;
}

const retryMs = 500;
// LISTEN keeps one; statements are short, whatever the concurrency.
const connections = 5;

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { url, log, tasks, crontab = [], concurrency, onWedged, graceMs = 20_000 } = options;
  const pool = createPool(
    { url, name: "herald worker", size: connections, role: serviceRole, statementTimeoutMs: 3_500 },
    log,
  );
  // A connection in use can fail too, between the moments in which the library listens.
  pool.on("connect", (client) => client.on("error", (error) => log.debug({ err: error }, "lost")));
  const giveUp = new AbortController();
  const stopping = new AbortController();
  const stopAsked = once(stopping.signal, "abort");
  const query = patientQuery(pool, log, giveUp.signal);
  const begin = async (): Promise<Shift> =>
    await startShift({ url, pool, query, log, tasks, crontab, concurrency, onWedged });

  async function beginAgain(): Promise<Shift | undefined> {
    while (!stopping.signal.aborted) {
      try {
        return await begin();
      } catch (error) {
        if (!isUnavailable(error)) {
          onWedged(new Error("the worker could not start anew", { cause: error }));
          return undefined;
        }
        await pause(retryMs);
      }
    }
    return undefined;
  }

  async function close(): Promise<void> {
    giveUp.abort();
    await pool.end();
  }

  // A worker that is started while the database recovers waits for it.
  let shift = await insist(begin).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  async function work(): Promise<void> {
    for (;;) {
      await Promise.race([shift.ended, stopAsked]);
      const next = await beginAgain();
      if (!next) return;
      shift = next;
    }
  }
  const working = work();
  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    stopping.abort();
    await working;
    await shift.stop(graceMs);
    await close();
  }

  return {
    get id() {
      return shift.id;
    },
    stop: () => (stopped ??= stop()),
  };
}
