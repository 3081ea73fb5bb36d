import { AppError } from "../errors.ts";

/** Runs what it is given, so many at once; the others wait in order. */
export type Slots = <Result>(act: () => Promise<Result>) => Promise<Result>;

const retryAfterSeconds = 5;

export function createSlots(size: number, maxWaiting: number): Slots {
  const waiting: (() => void)[] = [];
  let free = size;
  return async (act) => {
    if (free > 0) free--;
    else {
      if (waiting.length >= maxWaiting)
        throw new AppError("service_unavailable", "Too many pictures are waiting to be drawn", {
          retryAfterSeconds,
        });
      // Whoever ends hands the slot over, so it is never free in between.
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
