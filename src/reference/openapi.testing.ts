// What the tests of the reference share: a real app with routes of every kind that the document has to describe.
import { after } from "node:test";
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { pino } from "pino";
import { z } from "zod";
import { systemClock } from "../clock.ts";
import { loadConfig } from "../config.ts";
import type { OpenApiDocument } from "./openapi-document.ts";
import { describeRoutes } from "./openapi.ts";
import { referenceRoutes } from "./routes.ts";
import { createHttp } from "../http/index.ts";

export const config = loadConfig({
  DATABASE_URL: "postgresql://127.0.0.1:1/none",
  AUTH_SECRET: "s".repeat(32),
  TOKEN_KEYS: `test:${Buffer.alloc(32).toString("base64url")}`,
});

export interface DescribedApp {
  app: FastifyInstance;
  document: () => OpenApiDocument;
}

export async function describedApp(
  routes: FastifyPluginAsync,
  servers = ["http://localhost:3000", "http://localhost:3000/functions"],
): Promise<DescribedApp> {
  const app = createHttp({
    config,
    log: pino({ level: "silent" }),
    clock: systemClock,
    guard: async () => {},
    rateHeaders: async () => ({}),
  });
  const document = describeRoutes(app, { version: "1.2.3", servers });
  await app.register(referenceRoutes(document));
  await app.register(routes);
  await app.ready();
  after(() => app.close());
  return { app, document };
}

const platform = z.enum(["twitter", "linkedin"]);
const target = z.strictObject({ platform, accountId: z.string().min(1) }).meta({ id: "Target" });
const comment = z
  .object({
    text: z.string(),
    get replies() {
      return z.array(comment);
    },
  })
  .meta({ id: "Comment" });

export const postBody = z.strictObject({
  text: z.string().max(100_000).describe("What to say, `as is`"),
  platform: z.union([platform, target, z.array(z.union([platform, target])).min(1)]),
  scheduledTime: z.iso.datetime().nullish(),
  isTrial: z.boolean().default(false),
});
export const ruleBody = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("repost"), delayMinutes: z.int().min(0) }),
  z.strictObject({ kind: z.literal("rewrite"), words: z.record(z.string(), z.string()) }),
]);
const post = z.object({ id: z.uuid(), target, comments: z.array(comment) });
const health = z.object({ status: z.string() }).describe("How it goes");

export const sampleRoutes: FastifyPluginAsync = async (app) => {
  const tags = ["Posts"];
  const reply = async () => ({});
  const schema = { tags, summary: "Create a post", body: postBody, response: { 201: post } };
  app.post(
    "/v1/posts",
    {
      config: { credential: "apiKey", limitPerMinute: 30, errors: ["missing_integrations"] },
      schema,
    },
    reply,
  );
  const page = z.object({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    after: z.string().optional(),
  });
  app.get(
    "/v1/posts",
    { schema: { tags, summary: "List", querystring: page, response: { 200: z.array(post) } } },
    reply,
  );
  app.delete(
    "/v1/posts/:id",
    {
      config: { credential: "idToken" },
      schema: {
        tags,
        summary: "Cancel",
        params: z.object({ id: z.uuid() }),
        response: { 204: z.void() },
      },
    },
    reply,
  );
  app.post(
    "/rules",
    { schema: { tags, summary: "Make a rule", body: ruleBody, response: { 201: z.object({}) } } },
    reply,
  );
  app.get(
    "/health",
    { schema: { tags: ["Health"], summary: "Up?", response: { 200: health, 503: health } } },
    reply,
  );
  app.get(
    "/livez",
    {
      config: { isGated: false },
      schema: { tags: ["Health"], summary: "Alive?", response: { 200: health } },
    },
    reply,
  );
  app.get(
    "/files/*",
    { schema: { tags: ["Files"], summary: "Read", response: { 200: z.string() } } },
    reply,
  );
  app.get("/app/:page(^[a-z]+$)", { config: { isUndocumented: true } }, reply);
};
