import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import { z } from "zod";

const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, "must be printable ASCII");
const headers = z
  .record(z.string().regex(/^[\w-]+$/, "must be a header name"), headerValue)
  .optional();
const status = z.int().min(200).max(599);

const common = {
  service: z.string(),
  operation: z.string().optional(),
  /** Part of the path or of the body. */
  match: z.string().min(1).optional(),
  /** `before`: the service never sees the call. `after`: it accepted and journaled it; only the answer suffers. */
  phase: z.enum(["before", "after"]),
  /** How often it strikes; without it, until the faults are ended. */
  times: z.int().min(1).optional(),
  /** Chance to strike per matching call; the same seed gives the same sequence. */
  probability: z.number().gt(0).max(1).optional(),
  seed: z.int().min(0).max(0xffff_ffff).optional(),
};

const effects = {
  /** Any status: also a 201 without its id, or a redirect. */
  fail: z.strictObject({
    ...common,
    effect: z.literal("fail"),
    status: status.default(500),
    headers,
    body: z.unknown().optional(),
  }),
  hang: z.strictObject({ ...common, effect: z.literal("hang") }),
  delay: z.strictObject({ ...common, effect: z.literal("delay"), ms: z.int().min(1).max(600_000) }),
  reset: z.strictObject({ ...common, effect: z.literal("reset") }),
  /** The bytes of the whole answer, status line included, a few at a time. */
  trickle: z.strictObject({
    ...common,
    effect: z.literal("trickle"),
    bytes: z.int().min(1).default(1),
    everyMs: z.int().min(1).default(100),
  }),
  rate_limit: z.strictObject({
    ...common,
    effect: z.literal("rate_limit"),
    retryAfter: headerValue.optional(),
    headers,
    body: z.unknown().optional(),
  }),
  /** The service itself answers, as it answers an expired token; so it cannot come after accepting. */
  expire_token: z.strictObject({
    ...common,
    effect: z.literal("expire_token"),
    phase: z.literal("before", "expire_token works only before the call is accepted"),
  }),
  /** The service's own answer without some headers or without its body, e.g. a 201 that names no id. */
  strip: z
    .strictObject({
      ...common,
      effect: z.literal("strip"),
      phase: z.literal("after", "strip needs an answer of the service"),
      headers: z.array(z.string()).default([]),
      body: z.boolean().default(false),
    })
    .refine(({ headers, body }) => headers.length > 0 || body, "must strip headers or the body"),
  malformed: z.strictObject({
    ...common,
    effect: z.literal("malformed"),
    kind: z.enum(["garbage", "html", "large"]).default("garbage"),
    status: status.default(200),
    sizeBytes: z
      .int()
      .min(1)
      .max(256 * 1024 * 1024)
      .default(10 * 1024 * 1024),
  }),
};

export const faultRule = z.discriminatedUnion(
  "effect",
  [
    effects.fail,
    effects.hang,
    effects.delay,
    effects.reset,
    effects.trickle,
    effects.rate_limit,
    effects.expire_token,
    effects.strip,
    effects.malformed,
  ],
  {
    error: ({ code }) =>
      code === "invalid_union" ? `must be one of ${Object.keys(effects).join(", ")}` : undefined,
  },
);

export type FaultRule = z.infer<typeof faultRule>;
export type Fault = FaultRule & { id: number };

export interface FaultTarget {
  service: string;
  operation: string;
  path: string;
  raw: Buffer;
}

/** Mulberry32: small and seeded, which is all that a repeatable fault schedule needs. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The active rules and the calls they hold back. Lives in memory: a restarted sandbox has no faults. */
export class Faults {
  #rules: { fault: Fault; random: () => number }[] = [];
  #lastId = 0;
  readonly #held = new Set<() => void>();

  add(rule: FaultRule): Fault {
    // A drawn seed is shown to the caller: a failure must be repeatable.
    const seed = rule.seed ?? (rule.probability === undefined ? undefined : randomInt(2 ** 32));
    const fault: Fault = { id: ++this.#lastId, ...rule, ...(seed === undefined ? {} : { seed }) };
    this.#rules.push({ fault, random: seededRandom(seed ?? 0) });
    return fault;
  }

  list(): Fault[] {
    return this.#rules.map(({ fault }) => fault);
  }

  /** The first rule, in the order added, that strikes this call. Asking counts as a call. */
  strike(phase: "before" | "after", target: FaultTarget): Fault | undefined {
    const struck = this.#rules.find(
      ({ fault, random }) =>
        fault.phase === phase &&
        fault.service === target.service &&
        (fault.operation === undefined || fault.operation === target.operation) &&
        (fault.match === undefined ||
          target.path.includes(fault.match) ||
          target.raw.includes(fault.match)) &&
        (fault.probability === undefined || random() < fault.probability),
    );
    if (struck?.fault.times !== undefined && --struck.fault.times === 0) {
      this.#rules = this.#rules.filter((rule) => rule !== struck);
    }
    return struck?.fault;
  }

  /** Ends all faults: held sockets are destroyed, delayed calls go on at once. */
  end(): { ended: number; released: number } {
    const counts = { ended: this.#rules.length, released: this.#held.size };
    this.#rules = [];
    for (const release of this.#held) release();
    return counts;
  }

  /** Keeps a connection silent until its client goes or the faults end. */
  hold(socket: Socket): void {
    if (socket.destroyed) return;
    const release = (): void => void socket.destroy();
    this.#held.add(release);
    socket.once("close", () => this.#held.delete(release));
  }

  delay(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const release = (): void => {
      clearTimeout(timer);
      this.#held.delete(release);
      resolve();
    };
    const timer = setTimeout(release, ms);
    this.#held.add(release);
    return promise;
  }
}
