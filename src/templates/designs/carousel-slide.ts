import type { Node } from "@takumi-rs/core";
import { z } from "zod";
import { mix } from "../colours.ts";
import { commonImages, commonKeys } from "../keys.ts";
import type { Palette } from "../palette.ts";
import { palette } from "../palette.ts";
import { arrowPath, box, column, icon, page, row, safeArea, signature } from "../parts.ts";
import type { Template } from "../template.ts";
import { directionOf } from "../text.ts";
import { body, display, hugging, label, stack } from "../typography.ts";

const disc = 104;

const config = z
  .strictObject({
    title: z.string().min(1).max(300).describe("Heading of the slide"),
    text: z.string().max(1_000).optional().describe("What the slide says"),
    series: z.string().max(60).optional().describe("What all the slides are about, at the top"),
    page: z.int().min(1).max(20).default(1).describe("Number of this slide"),
    pages: z.int().min(1).max(20).default(1).describe("How many slides there are"),
    ...commonKeys,
  })
  .refine(({ page, pages }) => page <= pages, {
    path: ["page"],
    message: "Must not be greater than pages",
  });

export const carouselSlide: Template<typeof config> = {
  slug: "carousel-slide",
  title: "Carousel slide",
  description: "One of several slides, with its number and how far the reader has come",
  version: 1,
  config,
  images: commonImages,
  example: {
    series: "Better emails",
    title: "Say what you need in the first line",
    text: "Most people read the first sentence and decide. Put the request there, then the reasons.",
    page: 2,
    pages: 7,
    handle: "@plainwords",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#1c2fe0", accent: "#ffe14d" });
    const { width, height } = safeArea(canvas);
    const signed = await signature(config, canvas, colours, width - disc - 36);
    const number = await stack(canvas, { width: 160, height: 56 }, [
      {
        text: `${config.page}/${config.pages}`,
        min: 24,
        max: 38,
        style: display(colours.accentText, { letterSpacing: 0 }),
      },
    ]);
    const series = await stack(canvas, { width: width - 200, height: 72 }, [
      { text: config.series, min: 20, max: 28, style: label(colours.text) },
    ]);
    const taken = 72 + disc + 36 + 12 + 2 * 56;
    const texts = await stack(canvas, { width, height: height - taken, gap: 44 }, [
      { text: config.title, min: 40, max: [128, 148, 160], style: display(colours.text) },
      { text: config.text, min: 24, max: [42, 48, 52], style: body(colours.text) },
    ]);
    const onward = row(
      {
        width: disc,
        height: disc,
        justifyContent: "center",
        borderRadius: disc / 2,
        backgroundColor: colours.fill,
        transform: `rotate(${directionOf(config.title) === "rtl" ? 180 : 0}deg)`,
      },
      [icon(arrowPath, 52, colours.onFill)],
    );
    return page(config, canvas, colours, {
      text: config.title,
      children: [
        row({ justifyContent: "space-between" }, [row({}, series), ...number.map(hugging)]),
        column({ gap: 44 }, texts),
        column({ gap: 36 }, [
          row({ height: disc, justifyContent: "space-between" }, [
            row({}, signed),
            ...(config.page < config.pages ? [onward] : []),
          ]),
          progress(config, width, colours),
        ]),
      ],
    });
  },
};

function progress(
  { page, pages }: { page: number; pages: number },
  width: number,
  colours: Palette,
): Node {
  const gap = 12;
  const size = (width - gap * (pages - 1)) / pages;
  const ahead = mix(colours.from, colours.text, 0.28);
  const dots = Array.from({ length: pages }, (_, i) =>
    box({
      width: size,
      height: 12,
      borderRadius: 6,
      backgroundColor: i < page ? colours.accent : ahead,
    }),
  );
  return row({ width, gap }, dots);
}
