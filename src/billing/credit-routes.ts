import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import type { Pool } from "../db/index.ts";
import { callerOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import { readCredits } from "./credits-read.ts";

const entryId = z.string().regex(/^\d{1,18}$/);

const creditsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: entryId.optional().describe("`next` of the page before"),
});

const creditsAnswer = z.object({
  balance: z.number().int().describe("Credits you can spend now"),
  periodEnd: z.iso.datetime().nullable().describe("When what is left of them expires"),
  entries: z
    .array(
      z.object({
        id: entryId,
        kind: z.enum(["grant", "debit", "refund", "expiry", "adjustment"]),
        amount: z.number().int().describe("Negative where credits were taken"),
        balanceAfter: z.number().int(),
        reference: z.record(z.string(), z.unknown()).describe("What it was for"),
        createdAt: z.iso.datetime(),
      }),
    )
    .describe("Newest first"),
  next: entryId.nullable(),
});

/** Mounted twice: for API keys below the API's root, for ID tokens below the web app's. */
export function creditRoutes(
  { db }: { db: Pool },
  credential: "apiKey" | "idToken",
): FastifyPluginAsync {
  return async (scope) => {
    scope.withTypeProvider<ZodTypes>().get(
      "/credits",
      {
        config: { credential },
        schema: {
          tags: ["Credits"],
          summary: "Your credits, and every change of them",
          querystring: creditsQuery,
          response: { 200: creditsAnswer },
        },
      },
      async (request) => {
        const credits = await readCredits(db, callerOf(request).userId, request.query);
        return {
          ...credits,
          periodEnd: credits.periodEnd?.toISOString() ?? null,
          entries: credits.entries.map((entry) => ({
            ...entry,
            createdAt: entry.createdAt.toISOString(),
          })),
        };
      },
    );
  };
}
