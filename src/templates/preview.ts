import { hash } from "node:crypto";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { AppError } from "../errors.ts";
import * as shapes from "./schema.ts";
import type { Studio } from "./studio.ts";
import type { Template } from "./template.ts";

export interface PreviewDeps {
  studio: Studio;
  templates: readonly Template[];
  guard(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

interface Preview {
  png: Buffer;
  etag: string;
}

async function drawPreview(studio: Studio, template: Template): Promise<Preview> {
  const config = template.config.parse(template.example);
  const png = await studio.draw(template, config, "1:1", new Map());
  return { png, etag: `"${hash("sha256", png).slice(0, 32)}"` };
}

/** A picture of each template's example, for everybody. Drawn when it is first asked for. */
export function previewRoute({ studio, templates, guard }: PreviewDeps): FastifyPluginAsync {
  const previews = new Map<string, Promise<Preview>>();
  const previewOf = async (template: Template): Promise<Preview> => {
    const preview = previews.get(template.slug) ?? drawPreview(studio, template);
    previews.set(template.slug, preview);
    try {
      return await preview;
    } catch (error) {
      previews.delete(template.slug);
      throw error;
    }
  };
  return async (scope) => {
    scope.addHook("onRequest", guard);
    scope.get<{ Params: { slug: string } }>(
      "/templates/:slug.png",
      {
        config: { isGated: false, errors: ["not_found", "service_unavailable"] },
        schema: {
          tags: ["Templates"],
          summary: "A picture of a template's example",
          params: shapes.previewParams,
          response: {
            200: { description: "The PNG", content: { "image/png": { schema: z.string() } } },
          },
        },
      },
      async (request, reply) => {
        const template = templates.find(({ slug }) => slug === request.params.slug);
        if (!template) throw new AppError("not_found", "There is no such template");
        const { png, etag } = await previewOf(template);
        reply.headers({ etag, "cache-control": "public, max-age=3600" });
        if (request.headers["if-none-match"] === etag) return await reply.code(304).send();
        return await reply.type("image/png").send(png);
      },
    );
  };
}
