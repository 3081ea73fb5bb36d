import type { z } from "zod";
import type { PlatformResponse } from "./adapter.ts";

// What adapters read out of a platform's answer. None of it may be trusted to be there, or to be whole.

/** Undefined where the body is not JSON or lacks what the shape asks for. */
export function bodyAs<T>(shape: z.ZodType<T>, { body }: PlatformResponse): T | undefined {
  try {
    return shape.safeParse(JSON.parse(body)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The platform's time where it tells it: waits are measured on the clock that they were set by. */
export function timeAt({ headers }: PlatformResponse): number {
  const told = Date.parse(headers["date"] ?? "");
  return Number.isNaN(told) ? Date.now() : told;
}

// `Date.parse` alone takes almost anything for a date, "soon 1" for one in 2001.
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long the platform asks to wait, as it says it: also negative or absurd. Undefined where it says nothing clear. */
export function retryAfterSeconds(response: PlatformResponse): number | undefined {
  const asked = response.headers["retry-after"] ?? "";
  if (/^-?\d{1,15}$/.test(asked)) return Number(asked);
  const until = httpDate.test(asked) ? Date.parse(asked) : Number.NaN;
  return Number.isNaN(until) ? undefined : Math.ceil((until - timeAt(response)) / 1_000);
}
