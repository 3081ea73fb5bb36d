import { z } from "zod";
import { commonImages, commonKeys } from "../keys.ts";
import { palette } from "../palette.ts";
import { column, icon, page, row, safeArea, signature, signatureHeight, tag } from "../parts.ts";
import type { Template } from "../template.ts";
import { alike, body, display, inRatio, label, stack } from "../typography.ts";

const clock =
  "M12 2a10 10 0 100 20 10 10 0 000-20zm0 2.400a7.600 7.600 0 110 15.200 7.600 7.600 0 010-15.200zm-1.200 2.800v5.400l4.300 2.600 1.200-1.900-3.200-1.900V7.200z";
const pin =
  "M12 2a7.500 7.500 0 00-7.500 7.500C4.500 15 12 22 12 22s7.500-7 7.500-12.500A7.500 7.500 0 0012 2zm0 4.800a2.800 2.800 0 110 5.600 2.800 2.800 0 010-5.600z";

const config = z.strictObject({
  title: z.string().min(1).max(300).describe("Name of the event"),
  kind: z.string().max(30).optional().describe("What kind of event, such as Workshop"),
  day: z.string().min(1).max(7).describe("Day of the month, or several: 14 or 14-16"),
  month: z.string().min(1).max(20).describe("The month, as short as you like: Nov"),
  time: z.string().max(80).optional().describe("When it starts and ends"),
  place: z.string().max(160).optional().describe("Where it is"),
  details: z.string().max(1_000).optional().describe("What to expect"),
  ...commonKeys,
});

export const event: Template<typeof config> = {
  slug: "event",
  title: "Event",
  description: "An invitation with the date on a large calendar leaf",
  version: 1,
  config,
  images: commonImages,
  example: {
    kind: "Open studio",
    title: "An evening of print, ink and paper",
    day: "14",
    month: "Nov",
    time: "18:30 to 22:00",
    place: "Halle 7, Leipzig",
    details: "Pull your own poster on a press from 1924. Bring an apron.",
    author: "Werkstatt Nord",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#3b0a78", to: "#a3155f", accent: "#ffc2a1" });
    const { width, height } = safeArea(canvas);
    const leaf = inRatio(canvas, [230, 260, 310]);
    const facts = [
      { text: config.time ?? "", path: clock },
      { text: config.place ?? "", path: pin },
    ].filter(({ text }) => text !== "");
    const factTexts = await alike(
      canvas,
      { width: width - leaf - 44 - 68, height: (leaf - 24) / 2 },
      {
        texts: facts.map(({ text }) => text),
        min: 20,
        max: [42, 46, 50],
        style: body(colours.text, { fontWeight: 600, lineHeight: 1.25 }),
      },
    );
    const onLeaf = { width: leaf - 32, textAlign: "center" } as const;
    const month = await stack(canvas, { width: leaf - 32, height: leaf * 0.26 }, [
      { text: config.month, min: 18, max: 44, style: label(colours.onFill, onLeaf) },
    ]);
    const day = await stack(canvas, { width: leaf - 32, height: leaf * 0.58 }, [
      {
        text: config.day,
        min: 28,
        max: leaf * 0.56,
        style: display(colours.onFill, { ...onLeaf, lineHeight: 1 }),
      },
    ]);
    const signed = await signature(config, canvas, colours, width);
    const kind = await tag(config.kind, canvas, colours.text);
    const taken = leaf + kind.length * 100 + signed.length * signatureHeight + 64;
    const texts = await stack(canvas, { width, height: height - taken, gap: 32 }, [
      { text: config.title, min: 40, max: [124, 148, 160], style: display(colours.text) },
      { text: config.details, min: 22, max: [38, 42, 46], style: body(colours.muted) },
    ]);
    const leafShape = {
      width: leaf,
      height: leaf,
      alignItems: "center",
      justifyContent: "center",
      borderRadius: 40,
      backgroundColor: colours.fill,
    };
    const lines = factTexts.map((text, i) =>
      row({ gap: 24 }, [icon(facts[i]?.path ?? "", 44, colours.accent), text]),
    );
    return page(config, canvas, colours, {
      text: config.title,
      children: [
        column({ gap: 32 }, [...kind, ...texts]),
        column({ gap: 28 }, [
          row({ gap: 44 }, [column(leafShape, [...month, ...day]), column({ gap: 24 }, lines)]),
          ...signed,
        ]),
      ],
    });
  },
};
