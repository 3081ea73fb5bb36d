/** The time of this world. It can be set ahead, so that windows, quotas and tokens end without waiting. */
export class Clock {
  /** In memory, like the faults: a restarted sandbox is back at the real time. */
  #aheadMs = 0;

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  reset(): void {
    this.#aheadMs = 0;
  }
}
