import { z } from "zod";
import { commonImages, commonKeys } from "../keys.ts";
import { inksOn, palette } from "../palette.ts";
import { column, page, row, safeArea, signature, signatureHeight } from "../parts.ts";
import type { Template } from "../template.ts";
import { alike, body, display, stack } from "../typography.ts";

const accent = "#4338ca";

const config = z.strictObject({
  title: z.string().min(1).max(300).describe("What the tips are about"),
  items: z.array(z.string().min(1).max(160)).min(1).max(8).describe("The tips, in order"),
  ...commonKeys,
});

export const tipList: Template<typeof config> = {
  slug: "tip-list",
  title: "Tip list",
  description: "Up to eight numbered tips on cards under a title",
  version: 1,
  config,
  images: commonImages,
  example: {
    title: "Four habits of calm mornings",
    items: [
      "Leave the phone in another room overnight",
      "Drink a glass of water before coffee",
      "Write down the one thing that matters today",
      "Walk for ten minutes, whatever the weather",
    ],
    handle: "@slowmornings",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#dfe4ff", to: "#f3e8ff", accent });
    const inks = inksOn([colours.card], config, accent);
    const { width, height } = safeArea(canvas);
    const signed = await signature(config, canvas, colours, width);
    const count = config.items.length;
    const gap = count > 5 ? 14 : 20;
    const titleHeight = height * (count > 5 ? 0.17 : 0.24);
    const title = await stack(canvas, { width, height: titleHeight }, [
      { text: config.title, min: 34, max: [88, 100, 112], style: display(colours.text) },
    ]);
    const listHeight = height - titleHeight - 40 - signed.length * signatureHeight;
    const cardHeight = Math.floor(Math.min(250, (listHeight - gap * (count - 1)) / count));
    const badge = Math.min(80, cardHeight - 24);
    const pad = Math.round(badge * 0.4);
    const tips = await alike(
      canvas,
      { width: width - badge - 3 * pad, height: cardHeight - 12 },
      {
        texts: config.items,
        min: 18,
        max: [44, 50, 54],
        style: body(inks.text, { fontWeight: 600, lineHeight: 1.25 }),
      },
    );
    const numbers = await alike(
      canvas,
      { width: badge, height: badge },
      {
        texts: tips.map((_, i) => String(i + 1)),
        min: 20,
        max: Math.round(badge * 0.5),
        style: display(inks.onFill, { textAlign: "center" }),
      },
    );
    const disc = {
      width: badge,
      height: badge,
      justifyContent: "center",
      borderRadius: badge / 2,
      backgroundColor: inks.fill,
    };
    const card = {
      width,
      height: cardHeight,
      gap: pad,
      padding: `0 ${pad}px`,
      borderRadius: Math.min(32, cardHeight / 3),
      backgroundColor: colours.card,
    };
    const cards = tips.map((tip, i) => row(card, [row(disc, numbers.slice(i, i + 1)), tip]));
    return page(config, canvas, colours, {
      text: config.title,
      children: [...title, column({ gap }, cards), ...signed],
    });
  },
};
