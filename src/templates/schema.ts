import { z } from "zod";
import { ratios } from "./template.ts";
import type { Ratio } from "./template.ts";

const ratio = z.enum(Object.keys(ratios) as [Ratio, ...Ratio[]]);

export const renderBody = z.strictObject({
  templateSlug: z.string().min(1).max(100).describe("One of the slugs in `GET /v1/templates`"),
  config: z
    .record(z.string().max(100), z.unknown())
    .default({})
    .describe("What the picture says; the keys are the template's own, see `GET /v1/templates`"),
  aspectRatio: ratio.default("1:1").describe("1080x1080, 1080x1350 or 1080x1920 pixels"),
});

export const renderAnswer = z.object({
  url: z.string().describe("Where the PNG is; stable and public"),
  id: z.string().describe("What other calls take as mediaId"),
});

export const listAnswer = z.object({
  templates: z.array(
    z.object({
      slug: z.string(),
      title: z.string(),
      description: z.string(),
      aspectRatios: z.array(ratio),
      config: z.record(z.string(), z.unknown()).describe("The JSON Schema of `config`"),
      example: z.record(z.string(), z.unknown()).describe("A `config` to begin with"),
      preview: z.string().describe("A picture of the example"),
    }),
  ),
});

export const previewParams = z.object({ slug: z.string().max(100) });
