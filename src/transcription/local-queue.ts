import { SpeechBusy } from "./failures.ts";

export interface Queue {
  /** Resolves when it is the caller's turn, which lasts until `leave` is called. */
  enter(signal?: AbortSignal): Promise<void>;
  leave(): void;
}

/** One at a time, in order of arrival. */
export function createQueue(maxWaiting: number): Queue {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (!isTaken) {
        isTaken = true;
        return;
      }
      if (waiting.length >= maxWaiting)
        throw new SpeechBusy(`${waiting.length} files wait to be transcribed`);
      await new Promise<void>((resolve, reject) => {
        const onTurn = (): void => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(onTurn), 1);
          reject(signal?.reason as Error);
        };
        waiting.push(onTurn);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    leave() {
      // Whoever is next takes over, so it is never free in between.
      const next = waiting.shift();
      if (next) next();
      else isTaken = false;
    },
  };
}
