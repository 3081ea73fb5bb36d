// Business rules read the time from here, so that a test can move it.
// Anything that processes must agree on (windows, leases, schedules) uses database time instead.
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
