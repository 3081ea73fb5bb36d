import type { Node } from "@takumi-rs/core";
import { z } from "zod";
import { mix } from "../colours.ts";
import { commonImages, commonKeys, picture } from "../keys.ts";
import { palette } from "../palette.ts";
import {
  column,
  cover,
  drawing,
  icon,
  image,
  box,
  page,
  row,
  safeArea,
  side,
  signature,
  signatureHeight,
} from "../parts.ts";
import type { Template } from "../template.ts";
import { body, display, inRatio, stack } from "../typography.ts";

const chain =
  "M10.600 13.400a4.400 4.400 0 006.200 0l3.400-3.400a4.400 4.400 0 00-6.200-6.200l-1.500 1.500 1.500 1.500 1.500-1.500a2.300 2.300 0 013.200 3.200l-3.400 3.400a2.300 2.300 0 01-3.200 0zM13.400 10.600a4.400 4.400 0 00-6.200 0L3.800 14a4.400 4.400 0 006.200 6.200l1.500-1.500-1.500-1.500-1.500 1.500a2.300 2.300 0 01-3.200-3.200l3.400-3.400a2.300 2.300 0 013.200 0z";

const config = z.strictObject({
  title: z.string().min(1).max(300).describe("Title of the page"),
  description: z.string().max(1_000).optional().describe("What it is about"),
  site: z.string().min(1).max(80).describe("Name or domain of the site"),
  image: picture.optional().describe("Picture of the page: an address or a media id"),
  ...commonKeys,
});

export const linkPreview: Template<typeof config> = {
  slug: "link-preview",
  title: "Link preview",
  description: "A page as a link shows it: picture, site, title and description",
  version: 1,
  config,
  images: [...commonImages, "image"],
  example: {
    title: "The quiet return of the neighbourhood library",
    description: "Lending is up a third since 2021. What people come for is not only books.",
    site: "longreads.example",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#ffffff", accent: "#2f5bea" });
    const { width, height, top, bottom } = safeArea(canvas);
    // The picture takes what the texts leave, and this at least.
    const shown = inRatio(canvas, [420, 540, 700]);
    const signed = await signature(config, canvas, colours, width);
    const site = await stack(canvas, { width: width - 60, height: 44 }, [
      {
        text: config.site,
        min: 20,
        max: 30,
        style: body(colours.accentText, { fontWeight: 700 }),
      },
    ]);
    const room = height - (shown - top) - 56 - 72 - signed.length * signatureHeight;
    const texts = await stack(canvas, { width, height: room, gap: 20 }, [
      { text: config.title, min: 36, max: [84, 96, 96], style: display(colours.text) },
      { text: config.description, min: 22, max: [36, 40, 44], style: body(colours.muted) },
    ]);
    const frame = box(
      {
        position: "relative",
        width: "100%",
        minHeight: shown,
        flexGrow: 1,
        overflow: "hidden",
        backgroundColor: colours.fill,
      },
      [config.image ? image(config.image, cover) : rings(colours.fill, canvas.width)],
    );
    return page(config, canvas, colours, {
      text: config.title,
      style: { padding: 0 },
      children: [
        frame,
        column({ gap: 24, padding: `56px ${side}px ${bottom}px` }, [
          row({ gap: 16 }, [icon(chain, 40, colours.accent), ...site]),
          column({ gap: 20 }, texts),
          ...signed,
        ]),
      ],
    });
  },
};

/** Rings around a corner, where there is no picture. */
function rings(colour: string, width: number): Node {
  const circles = [780, 600, 420, 240].map((radius, i) => {
    const fill = mix(colour, "#ffffff", 0.12 + i * 0.2);
    return `<circle cx="800" cy="1000" r="${radius}" fill="${fill}"/>`;
  });
  const style = { position: "absolute", left: 0, bottom: 0, width, height: width } as const;
  return image(drawing(1000, 1000, circles.join("")), style);
}
