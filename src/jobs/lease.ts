import { hostname } from "node:os";
import type { Logger } from "pino";
import { insertWorker, takeWorkerId, tryLock } from "./queries.ts";
import { openSession } from "./session.ts";
import type { Session } from "./session.ts";

/**
 * A worker's id, and the connection whose lock says that the worker lives. The operating system closes the connection
 * of a process that is killed, and keeps that of one that is merely paused, which so counts as alive.
 */
export interface Lease {
  id: number;
  /** Over that connection; if it was lost, over a new one that takes the lock again first. Not for use in parallel. */
  inSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Resolves after that time, or at once when `ended` is aborted or the connection is lost. */
  rest(milliseconds: number, ended: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export async function takeLease(url: string, log: Logger): Promise<Lease> {
  let session: Session | undefined = await openSession(url, log);
  let isLocked = true;
  const id = await enter(session);

  async function close(): Promise<void> {
    const old = session;
    session = undefined;
    isLocked = false;
    await old?.close();
  }

  return {
    id,
    close,
    async inSession(work) {
      try {
        if (session?.lost.aborted) await close();
        session ??= await openSession(url, log);
        // After a lost connection the server may hold the old lock for seconds more. That protects us as well as a
        // new one would, so work goes on, and the next call tries again.
        isLocked ||= await tryLock(session.query, id);
        return await work(session);
      } catch (error) {
        await close();
        throw error;
      }
    },
    async rest(milliseconds, ended) {
      const woken = Promise.withResolvers<void>();
      const wake = (): void => woken.resolve();
      const timer = setTimeout(wake, milliseconds);
      const signals = session ? [ended, session.lost] : [ended];
      for (const signal of signals) signal.addEventListener("abort", wake);
      if (signals.some((signal) => signal.aborted)) wake();
      await woken.promise;
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", wake);
    },
  };
}

async function enter(session: Session): Promise<number> {
  try {
    const id = await takeWorkerId(session.query);
    if (!(await tryLock(session.query, id))) throw new Error(`the lock of worker ${id} is taken`);
    await insertWorker(session.query, { id, host: hostname(), pid: process.pid });
    return id;
  } catch (error) {
    await session.close();
    throw error;
  }
}
