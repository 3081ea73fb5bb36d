import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { answerOnceLeased, callerOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import { mediaAddress } from "../media/index.ts";
import type { Sealer } from "../sealing.ts";
import { renderPicture } from "./render.ts";
import type { RenderDeps } from "./render.ts";
import * as shapes from "./schema.ts";
import { ratios } from "./template.ts";
import type { Ratio, Template } from "./template.ts";

export interface TemplateDeps extends RenderDeps {
  sealer: Sealer;
  templates: readonly Template[];
  urls: { base: string };
}

const tags = ["Templates"];

function findTemplate(templates: readonly Template[], slug: string): Template {
  const found = templates.find((template) => template.slug === slug);
  if (found) return found;
  const slugs = templates.map((template) => template.slug).join(", ");
  throw new AppError("not_found", "There is no such template", {
    details: [
      { field: "body.templateSlug", message: `must be one of ${slugs}`, code: "unknown_template" },
    ],
  });
}

export function templateRoutes(deps: TemplateDeps): FastifyPluginAsync {
  const { templates } = deps;
  const { base } = deps.urls;
  const list = templates.map(({ slug, title, description, config, example }) => ({
    slug,
    title,
    description,
    aspectRatios: Object.keys(ratios) as Ratio[],
    config: z.toJSONSchema(config, { io: "input" }),
    example,
    preview: `${base}/templates/${slug}.png`,
  }));
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();

    for (const path of ["/templates", "/media/render-og"])
      app.post(
        path,
        {
          config: {
            credential: "apiKey",
            limitPerMinute: 20,
            errors: ["not_found", "upload_failed", "service_unavailable"],
          },
          schema: {
            tags,
            summary: "Draw a picture from a template",
            description:
              "The PNG is stored as one of your files. The same input gives the same file as long as you keep it.",
            body: shapes.renderBody,
            response: { 200: shapes.renderAnswer },
          },
        },
        async (request, reply) =>
          await answerOnceLeased(deps, request, reply, async () => {
            const { templateSlug, config, aspectRatio: ratio } = request.body;
            const template = findTemplate(templates, templateSlug);
            const id = await renderPicture(deps, callerOf(request), { template, config, ratio });
            const url = mediaAddress(base, { id, extension: "png" });
            return async () => ({ status: 200, body: { url, id } });
          }),
      );

    app.get(
      "/templates",
      {
        config: { credential: "apiKey" },
        schema: { tags, summary: "List the templates", response: { 200: shapes.listAnswer } },
      },
      () => ({ templates: list }),
    );
  };
}
