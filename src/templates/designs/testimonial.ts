import type { Node } from "@takumi-rs/core";
import { z } from "zod";
import { commonImages, commonKeys } from "../keys.ts";
import { inksOn, palette } from "../palette.ts";
import { column, icon, image, page, row, safeArea } from "../parts.ts";
import type { Template } from "../template.ts";
import { body, display, lettersOf, stack } from "../typography.ts";

const star =
  "M12 1.800l3.100 6.600 7.200.9-5.300 5 1.400 7.200-6.400-3.600-6.400 3.600L7 14.300l-5.300-5 7.200-.9z";
const avatar = 184;
const accent = "#c2255c";

const config = z.strictObject({
  ...commonKeys,
  text: z.string().min(1).max(1_000).describe("What the customer says"),
  author: z.string().min(1).max(60).describe("Who says it"),
  role: z.string().max(80).optional().describe("Their role and company"),
  rating: z.int().min(1).max(5).optional().describe("Stars out of five"),
});

const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => lettersOf(word)[0] ?? "")
    .join("")
    .toUpperCase();

export const testimonial: Template<typeof config> = {
  slug: "testimonial",
  title: "Testimonial",
  description: "A customer's words on a card, with their face, name and stars",
  version: 1,
  config,
  images: commonImages,
  example: {
    text: "We moved forty shops over a weekend and nobody noticed. That is the best thing I can say about a new till.",
    author: "Amara Okafor",
    role: "Head of retail, Northwind",
    rating: 5,
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#ffe3d3", to: "#ffc4d4", accent });
    const inks = inksOn([colours.card], config, accent);
    const { width, height } = safeArea(canvas);
    const inner = width - 2 * 68;
    const textAlign = "center";
    const face = { width: avatar, height: avatar, borderRadius: avatar / 2 };
    const letters = await stack(canvas, { width: avatar - 40, height: 110 }, [
      {
        text: initials(config.author),
        min: 32,
        max: 72,
        style: display(inks.onFill, { textAlign, fontWeight: 700 }),
      },
    ]);
    const portrait: Node = config.authorImage
      ? image(config.authorImage, face)
      : row({ ...face, justifyContent: "center", backgroundColor: inks.fill }, letters);
    const stars = Array.from({ length: config.rating ?? 0 }, () => icon(star, 48, inks.accent));
    const names = await stack(canvas, { width: inner, height: 140, gap: 4 }, [
      {
        text: config.author,
        min: 24,
        max: 40,
        style: body(inks.text, { textAlign, fontWeight: 700 }),
      },
      {
        text: [config.role, config.handle].filter(Boolean).join(" · "),
        min: 20,
        max: 30,
        style: body(inks.muted, { textAlign }),
      },
    ]);
    const logo = config.logo
      ? [image(config.logo, { width: 200, height: 64, objectFit: "contain" })]
      : [];
    const cardHeight = height - avatar / 2;
    const taken = avatar / 2 + (stars.length > 0 ? 76 : 0) + 144 + logo.length * 92 + 140;
    const words = await stack(canvas, { width: inner, height: cardHeight - taken }, [
      {
        text: config.text,
        min: 24,
        max: [60, 72, 84],
        style: body(inks.text, {
          textAlign,
          fontWeight: 600,
          lineHeight: 1.32,
          textWrap: "balance",
        }),
      },
    ]);
    const card = {
      width,
      height: cardHeight,
      alignItems: "center",
      justifyContent: "space-between",
      paddingBottom: 56,
      borderRadius: 48,
      backgroundColor: colours.card,
      boxShadow: "0 24px 80px rgba(60, 20, 10, 0.12)",
    };
    return page(config, canvas, colours, {
      text: config.text,
      style: { justifyContent: "flex-end" },
      children: [
        column(card, [
          column({ alignItems: "center", gap: 28, marginTop: -avatar / 2 }, [
            portrait,
            row({ gap: 8 }, stars),
          ]),
          ...words,
          column({ alignItems: "center", gap: 28 }, [column({ gap: 4 }, names), ...logo]),
        ]),
      ],
    });
  },
};
