import { z } from "zod";
import { commonImages, commonKeys } from "../keys.ts";
import { palette } from "../palette.ts";
import { box, column, cover, page, safeArea, signature, signatureHeight, tag } from "../parts.ts";
import type { Template } from "../template.ts";
import { body, display, label, stack } from "../typography.ts";

const config = z.strictObject({
  headline: z.string().min(1).max(300).describe("The news in one sentence"),
  category: z.string().max(30).optional().describe("A word on a tag above it, such as Breaking"),
  summary: z.string().max(1_000).optional().describe("What else to know, below it"),
  source: z.string().max(60).optional().describe("Where or when, such as a date or a paper"),
  ...commonKeys,
});

export const headline: Template<typeof config> = {
  slug: "headline",
  title: "Headline",
  description: "News in the manner of a front page: a tag, a heavy headline, a short summary",
  version: 1,
  config,
  images: commonImages,
  example: {
    category: "Breaking",
    headline: "City opens its first avenue without cars",
    summary: "Eleven kilometres of planted avenue replace six lanes of traffic from Monday.",
    source: "Monday, 4 May",
    author: "The Daily Post",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#0b0c10", accent: "#e5142b" });
    const { width, height } = safeArea(canvas);
    const signed = await signature(config, canvas, colours, width);
    const category = await tag(config.category, canvas, colours.fill);
    const source = await stack(canvas, { width, height: 44 }, [
      { text: config.source, min: 20, max: 26, style: label(colours.muted) },
    ]);
    const taken = category.length * 110 + source.length * 68 + signed.length * signatureHeight + 24;
    const [title, ...summary] = await stack(canvas, { width, height: height - taken, gap: 56 }, [
      { text: config.headline, min: 40, max: [132, 160, 184], style: display(colours.text) },
      { text: config.summary, min: 24, max: [38, 42, 46], style: body(colours.muted) },
    ]);
    const rule = box({ width, height: 2, backgroundColor: colours.muted, opacity: 0.35 });
    return page(config, canvas, colours, {
      text: config.headline,
      behind: [box({ ...cover, height: 20, backgroundColor: colours.fill })],
      children: [
        column({ gap: 40 }, [...category, ...(title ? [title] : [])]),
        column({ gap: 24 }, [
          ...summary,
          ...source,
          ...(signed.length > 0 ? [rule] : []),
          ...signed,
        ]),
      ],
    });
  },
};
