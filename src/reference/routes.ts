import { hash } from "node:crypto";
import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import type { OpenApiDocument } from "./openapi-document.ts";
import { page } from "./page.ts";
import { style } from "./page-style.ts";

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", style, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Serves the document for programs and, rendered from it, the reference for people. Both are open to everyone. */
export function referenceRoutes(document: () => OpenApiDocument): FastifyPluginAsync {
  return async (app) => {
    const tags = ["Reference"];
    let forPrograms = "";
    let forPeople = "";
    // A schema that can't be described stops the start, not a reader.
    app.addHook("onReady", async () => {
      forPrograms = JSON.stringify(document());
      forPeople = page(document());
    });

    app.get(
      "/openapi.json",
      {
        schema: {
          tags,
          summary: "The API, for programs",
          response: {
            200: z.looseObject({ openapi: z.string() }).describe("An OpenAPI 3.1 document"),
          },
        },
      },
      async (_request, reply) =>
        await reply.type("application/json; charset=utf-8").send(forPrograms),
    );

    app.get(
      "/docs",
      {
        schema: {
          tags,
          summary: "The API, for people",
          response: {
            200: { description: "This page", content: { "text/html": { schema: z.string() } } },
          },
        },
      },
      async (_request, reply) =>
        await reply
          .type("text/html; charset=utf-8")
          .header("content-security-policy", policy)
          .send(forPeople),
    );
  };
}
