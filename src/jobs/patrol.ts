import type { Logger } from "pino";
import { isUnavailable } from "../db/index.ts";
import type { Lease } from "./lease.ts";
import { lockName, readPulse, retireWorkers, returnJobs } from "./queries.ts";
import type { Session } from "./session.ts";

export interface PatrolOptions {
  lease: Lease;
  tasks: string[];
  log: Logger;
  /** How many jobs have begun or ended so far. */
  progress: () => number;
  hasRoom: () => boolean;
  isHeld: (jobId: string) => boolean;
  onDeclaredDead: () => void;
  onWedged: (error: Error) => void;
}

export interface Patrol {
  stop(): Promise<void>;
}

const roundMs = 750;
// Without a connection our lock is free, so it is taken again as soon as can be.
const retryMs = 200;
// A restart of the database drops every lock, and the living take theirs again at once. So a worker counts as dead
// when its lock was free in four looks in a row over one connection: after 2.25 to 3 seconds.
const looksUntilDead = 4;
// 8 seconds, counted in rounds and not by the clock: a process that was paused is not wedged.
const roundsUntilWedged = 11;
// 6 seconds, which is longer than we wait for any answer of the database.
const roundsUntilStray = 8;

/** Looks around in the database every round: at this worker, at the others, and at what waits to be run. */
export function startPatrol(options: PatrolOptions): Patrol {
  const { lease, log } = options;
  const stopped = new AbortController();
  let seenProgress = options.progress();
  let wedgedRounds = 0;
  const strays = new Map<string, number>();

  async function round(session: Session): Promise<void> {
    const progress = options.progress();
    const hasProgressed = progress !== seenProgress;
    const pulse = await readPulse(session.query, {
      id: lease.id,
      tasks: options.tasks,
      hasProgressed,
    });
    seenProgress = progress;
    if (!pulse.isRegistered) {
      stopped.abort();
      options.onDeclaredDead();
      return;
    }
    judge(pulse.hasOverdue && options.hasRoom() && !hasProgressed);
    await retire(session, pulse.unlocked);
    await returnStrays(session, pulse.held);
  }

  function judge(isStarving: boolean, cause?: unknown): void {
    wedgedRounds = isStarving ? wedgedRounds + 1 : 0;
    if (wedgedRounds === roundsUntilWedged)
      options.onWedged(new Error("jobs are due and there is room, but none was begun", { cause }));
  }

  async function retire({ query, sightings }: Session, unlocked: number[]): Promise<void> {
    const dead = countInARow(sightings, unlocked, looksUntilDead);
    if (dead.length === 0) return;
    const retired = await retireWorkers(query, dead);
    if (retired.length > 0) log.warn({ retired }, "dead workers found, their jobs are free");
  }

  // Jobs the database gave us in an answer that never arrived: locked by us, and unknown to us.
  async function returnStrays({ query }: Session, locked: string[]): Promise<void> {
    const unknown = locked.filter((jobId) => !options.isHeld(jobId));
    const lost = countInARow(strays, unknown, roundsUntilStray);
    if (lost.length === 0) return;
    await returnJobs(query, lockName(lease.id), lost);
    log.warn({ jobIds: lost }, "jobs fetched but never received were given back");
  }

  async function walk(): Promise<void> {
    let isAway = false;
    while (!stopped.signal.aborted) {
      const wasAway = isAway;
      try {
        await lease.inSession(round);
        isAway = false;
      } catch (error) {
        strays.clear();
        isAway = isUnavailable(error);
        // A database that is away says nothing about us. One that answers and refuses does.
        judge(!isAway, error);
        if (!wasAway) log.warn({ err: error }, "the worker could not look around");
      }
      await lease.rest(isAway ? retryMs : roundMs, stopped.signal);
    }
  }

  const walking = walk();
  return {
    async stop() {
      stopped.abort();
      await walking;
    },
  };
}

/** Counts how often in a row each was seen; returns those seen often enough. */
function countInARow<Key>(counts: Map<Key, number>, seen: Key[], enough: number): Key[] {
  for (const key of counts.keys()) if (!seen.includes(key)) counts.delete(key);
  for (const key of seen) counts.set(key, (counts.get(key) ?? 0) + 1);
  return seen.filter((key) => (counts.get(key) ?? 0) >= enough);
}
