import { setTimeout as pause } from "node:timers/promises";
import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import type { Deps } from "./deps.ts";
import { expectedVersion, isUnavailable } from "./db/index.ts";
import type { Pool } from "./db/index.ts";
import { addGauges } from "./http/index.ts";
import type { ZodTypes } from "./http/index.ts";
import { queueHealth } from "./jobs/index.ts";
import { version } from "./version.ts";

const healthAnswer = z.object({
  status: z
    .enum(["ok", "degraded", "unavailable"])
    .describe("`degraded`: requests are taken, jobs wait"),
  version: z.string(),
  timestamp: z.iso.datetime(),
});

const readyAnswer = z.object({
  isReady: z.boolean(),
  database: z.enum(["ok", "unavailable"]),
  migrations: z.enum(["ok", "behind", "unknown"]),
  worker: z.enum(["ok", "stalled", "none", "unknown"]),
});

type Readiness = z.infer<typeof readyAnswer>;

async function look(db: Pool, wanted: number): Promise<Readiness> {
  try {
    const { rows } = await db.query<{ version: number }>({
      name: "schema_version",
      text: "select coalesce(max(version), 0) as version from schema_migrations",
    });
    const isCurrent = (rows[0]?.version ?? 0) >= wanted;
    const queue = await queueHealth(db);
    const worker = queue.isProgressing ? (queue.workers > 0 ? "ok" : "none") : "stalled";
    return { isReady: isCurrent, database: "ok", migrations: isCurrent ? "ok" : "behind", worker };
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return { isReady: false, database: "unavailable", migrations: "unknown", worker: "unknown" };
  }
}

/** One look at the database serves all probes of the same second. */
function shareFor(
  milliseconds: number,
  lookNow: () => Promise<Readiness>,
): () => Promise<Readiness> {
  let latest: { at: number; answer: Promise<Readiness> } | undefined;
  return async () => {
    if (!latest || performance.now() - latest.at > milliseconds) {
      latest = { at: performance.now(), answer: lookNow() };
    }
    return await latest.answer;
  };
}

export function readinessOf({ db }: Pick<Deps, "db">): () => Promise<Readiness> {
  return shareFor(1_000, async () => await look(db, await expectedVersion()));
}

export function healthRoutes(deps: Deps): FastifyPluginAsync {
  const readiness = readinessOf(deps);
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();
    const schema = {
      tags: ["Health"],
      summary: "Is the service working?",
      response: { 200: healthAnswer, 503: healthAnswer },
    };
    app.get("/health", { schema }, async (_request, reply) => {
      const { isReady, worker } = await readiness();
      const status = !isReady ? "unavailable" : worker === "ok" ? "ok" : "degraded";
      return await reply
        .code(isReady ? 200 : 503)
        .send({ status, version, timestamp: deps.clock.now().toISOString() });
    });
  };
}

/** For orchestrators: no key, no limit. A process that drains is alive but not ready. */
export function probeRoutes(deps: Deps): FastifyPluginAsync {
  const readiness = readinessOf(deps);
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();
    let isDraining = false;
    // A process that stops says so and goes on answering (each answer closes its connection), until whoever sends
    // traffic here has had the time to look.
    app.addHook("preClose", async () => {
      isDraining = true;
      await pause(deps.config.server.drainMs);
    });
    const config = { isGated: false };
    app.get(
      "/livez",
      {
        config,
        schema: {
          tags: ["Health"],
          summary: "Does the process answer?",
          response: { 200: z.object({ isAlive: z.literal(true) }) },
        },
      },
      async () => ({ isAlive: true }) as const,
    );
    app.get(
      "/readyz",
      {
        config,
        schema: {
          tags: ["Health"],
          summary: "May traffic be sent here?",
          response: { 200: readyAnswer, 503: readyAnswer },
        },
      },
      async (_request, reply) => {
        const facts = await readiness();
        const isReady = facts.isReady && !isDraining;
        return await reply.code(isReady ? 200 : 503).send({ ...facts, isReady });
      },
    );
  };
}

/** The queue as an operator watches it. While the database is away there is nothing to tell. */
export function measureQueue({ metrics, db }: Pick<Deps, "metrics" | "db">): void {
  const helps = {
    herald_jobs_due: "Jobs that could run now and wait",
    herald_jobs_oldest_due_seconds: "How long the oldest of them has waited",
    herald_jobs_dead: "Jobs that failed too often and were kept",
    herald_workers: "Workers that are alive",
  };
  addGauges(metrics, helps, async (): Promise<Record<string, number>> => {
    try {
      const queue = await queueHealth(db);
      return {
        herald_jobs_due: queue.due,
        herald_jobs_oldest_due_seconds: queue.oldestDueSeconds ?? 0,
        herald_jobs_dead: queue.dead,
        herald_workers: queue.workers,
      };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return {};
    }
  });
}
