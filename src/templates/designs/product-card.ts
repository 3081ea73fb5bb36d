import type { Node } from "@takumi-rs/core";
import { z } from "zod";
import { mix } from "../colours.ts";
import { commonImages, commonKeys, picture } from "../keys.ts";
import { palette } from "../palette.ts";
import {
  column,
  cover,
  drawing,
  image,
  page,
  row,
  safeArea,
  signature,
  signatureHeight,
  tag,
} from "../parts.ts";
import type { Template } from "../template.ts";
import { body, display, hugging, inRatio, stack } from "../typography.ts";

const config = z.strictObject({
  name: z.string().min(1).max(300).describe("Name of the product"),
  description: z.string().max(1_000).optional().describe("What it is, in a sentence or two"),
  price: z.string().max(24).optional().describe("The price with its currency: $49 or 49 €"),
  oldPrice: z.string().max(24).optional().describe("The former price, struck out"),
  badge: z.string().max(24).optional().describe("A word on the picture, such as New or -30%"),
  button: z.string().max(30).optional().describe("Words on a button, such as Order now"),
  image: picture.optional().describe("Picture of the product: an address or a media id"),
  ...commonKeys,
});

export const productCard: Template<typeof config> = {
  slug: "product-card",
  title: "Product card",
  description: "A product with its picture, price and a button",
  version: 1,
  config,
  images: [...commonImages, "image"],
  example: {
    name: "Lumen desk lamp",
    description: "Warm light that follows the sun, in a globe of hand-blown glass.",
    price: "€129",
    oldPrice: "€159",
    badge: "New",
    button: "Order now",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#f3f0ea", accent: "#c9400b" });
    const { width, height } = safeArea(canvas);
    const signed = await signature(config, canvas, colours, width);
    const badge = await tag(config.badge, canvas, colours.text);
    const [button] = await stack(canvas, { width: 300, height: 80 }, [
      {
        text: config.button,
        min: 20,
        max: 34,
        style: body(colours.onFill, { fontWeight: 700, lineHeight: 1.2 }),
      },
    ]);
    const priceRoom = width - (button ? 440 : 0);
    const prices = [
      ...(await stack(canvas, { width: priceRoom * 0.6, height: 100 }, [
        { text: config.price, min: 28, max: 76, style: display(colours.text) },
      ])),
      ...(await stack(canvas, { width: priceRoom * 0.36, height: 70 }, [
        {
          text: config.oldPrice,
          min: 20,
          max: 40,
          style: body(colours.muted, { textDecoration: "line-through" }),
        },
      ])),
    ];
    const pill = {
      height: 96,
      padding: "0 48px",
      borderRadius: 48,
      backgroundColor: colours.fill,
    };
    const foot = row({ width, height: 104, justifyContent: "space-between" }, [
      row({ gap: 24 }, prices.map(hugging)),
      ...(button ? [row(pill, [hugging(button)])] : []),
    ]);
    const hasFoot = prices.length > 0 || button !== undefined;
    const shelf = height * inRatio(canvas, [0.42, 0.44, 0.44]);
    const taken = shelf + 44 + (hasFoot ? 136 : 0) + signed.length * signatureHeight;
    const texts = await stack(canvas, { width, height: height - taken, gap: 16 }, [
      { text: config.name, min: 36, max: [80, 92, 104], style: display(colours.text) },
      { text: config.description, min: 22, max: [36, 40, 44], style: body(colours.muted) },
    ]);
    const photo = config.image
      ? image(config.image, cover)
      : stillLife(colours.fill, width, shelf * 1.35);
    const frame = {
      position: "relative",
      width,
      minHeight: shelf,
      flexGrow: 1,
      padding: 32,
      borderRadius: 44,
      overflow: "hidden",
      backgroundColor: mix(colours.fill, "#ffffff", 0.1),
    } as const;
    return page(config, canvas, colours, {
      text: config.name,
      children: [
        column(frame, [photo, ...badge]),
        column({ gap: 16, marginTop: 44 }, texts),
        column({ marginTop: 28, gap: 28 }, [...(hasFoot ? [foot] : []), ...signed]),
      ],
    });
  },
};

/** A globe on a plinth before a low sun, where there is no picture. */
function stillLife(colour: string, width: number, height: number): Node {
  const lighter = (part: number): string => mix(colour, "#ffffff", part);
  const middle = width / 2;
  const circle = (x: number, y: number, radius: number, fill: string): string =>
    `<circle cx="${middle + x * height}" cy="${y * height}" r="${radius * height}" fill="${fill}"/>`;
  const block = (x: number, y: number, size: number, fill: string): string =>
    `<rect x="${x}" y="${y * height}" width="${size}" height="${height}" fill="${fill}"/>`;
  const shapes = [
    circle(0, 0.5, 0.38, lighter(0.3)),
    block(0, 0.76, width, colour),
    block(middle - height * 0.19, 0.68, height * 0.38, mix(colour, "#000000", 0.35)),
    circle(0, 0.48, 0.2, lighter(0.8)),
    circle(-0.07, 0.41, 0.05, lighter(0.95)),
  ];
  const style = { position: "absolute", left: 0, bottom: 0, width, height } as const;
  return image(drawing(width, height, shapes.join("")), style);
}
