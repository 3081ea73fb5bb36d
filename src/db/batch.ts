import { isDataFault } from "./failures.ts";

export interface BatchLimits {
  maxItems: number;
  maxInFlight: number;
}

interface Waiting<Item, Answer> {
  item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Turns a call that answers many items at once into a call for one. Whatever arrives while calls are in flight
 * goes out together with the next one; there is no timer, so a lone item never waits (bench/RESULTS.md, gate).
 */
export function batched<Item, Answer>(
  call: (items: Item[]) => Promise<Answer[]>,
  limits: BatchLimits = { maxItems: 128, maxInFlight: 2 },
): (item: Item) => Promise<Answer> {
  const queue: Waiting<Item, Answer>[] = [];
  let inFlight = 0;

  async function send(batch: Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await call(batch.map((waiting) => waiting.item));
      for (const [index, waiting] of batch.entries()) waiting.resolve(answers[index] as Answer);
    } catch (error) {
      // One bad item must not fail its neighbours: each is tried alone, and answers for itself.
      if (batch.length > 1 && isDataFault(error))
        await Promise.all(batch.map((waiting) => send([waiting])));
      else for (const waiting of batch) waiting.reject(error);
    }
  }

  function pump(): void {
    while (inFlight < limits.maxInFlight && queue.length > 0) {
      inFlight += 1;
      void send(queue.splice(0, limits.maxItems)).finally(() => {
        inFlight -= 1;
        pump();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      // Requests parsed in one turn of the event loop go out as one batch, at no cost in time.
      if (queue.length === 1) setImmediate(pump);
    });
}
