import { z } from "zod";
import { luminance, mix } from "../colours.ts";
import { commonImages, commonKeys, picture } from "../keys.ts";
import { inksOn, palette } from "../palette.ts";
import {
  arrowPath,
  box,
  column,
  icon,
  image,
  page,
  row,
  safeArea,
  signature,
  signatureHeight,
} from "../parts.ts";
import type { Template } from "../template.ts";
import { directionOf } from "../text.ts";
import type { Style } from "../typography.ts";
import { alike, display, label, stack } from "../typography.ts";

const gap = 20;
const pad = 48;
const disc = 80;

const config = z.strictObject({
  title: z.string().max(300).optional().describe("What has changed"),
  before: z.string().min(1).max(300).describe("How it was"),
  after: z.string().min(1).max(300).describe("How it is now"),
  beforeLabel: z.string().min(1).max(24).default("Before").describe("Heading of the first half"),
  afterLabel: z.string().min(1).max(24).default("After").describe("Heading of the second half"),
  beforeImage: picture.optional().describe("Picture of the first half: an address or a media id"),
  afterImage: picture.optional().describe("Picture of the second half: an address or a media id"),
  ...commonKeys,
});

export const beforeAfter: Template<typeof config> = {
  slug: "before-after",
  title: "Before and after",
  description: "Two panels that set the old against the new",
  version: 1,
  config,
  images: [...commonImages, "beforeImage", "afterImage"],
  example: {
    title: "What changed when we stopped meeting on Mondays",
    before: "Nine hours of meetings before anyone wrote a line",
    after: "One page of notes, and the whole day to build",
    handle: "@quietteam",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#fbfaf8", accent: "#0f766e" });
    const { width, height } = safeArea(canvas);
    const isStacked = canvas.ratio === "9:16";
    const signed = await signature(config, canvas, colours, width);
    const titleHeight = height * 0.2;
    const title = await stack(canvas, { width, height: titleHeight }, [
      { text: config.title, min: 34, max: [68, 80, 88], style: display(colours.text) },
    ]);
    const room = height - title.length * (titleHeight + 44) - signed.length * signatureHeight;
    const panel = isStacked
      ? { width, height: Math.floor((room - gap) / 2) }
      : { width: (width - gap) / 2, height: Math.floor(room) };
    // Beside the words where a panel is wide, above them where it is narrow.
    const part = config.beforeImage || config.afterImage ? 0.44 : 0;
    const shown = isStacked
      ? { width: Math.floor(panel.width * part), height: panel.height }
      : { width: panel.width, height: Math.floor(panel.height * part) };
    const inner = {
      width: panel.width - 2 * pad - (isStacked ? shown.width : 0),
      height: panel.height - 2 * pad - (isStacked ? 0 : shown.height),
    };
    const texts = await alike(
      canvas,
      { ...inner, height: inner.height - 72 },
      {
        texts: [config.before, config.after],
        min: 24,
        max: [56, 56, 72],
        style: display(colours.text, { fontWeight: 700, lineHeight: 1.18, textWrap: "wrap" }),
      },
    );
    const isDark = luminance(colours.text) > luminance(colours.from);
    const faded = isDark ? colours.card : mix(colours.from, colours.text, 0.09);
    const halves = [
      { heading: config.beforeLabel, photo: config.beforeImage, fill: faded, own: config },
      { heading: config.afterLabel, photo: config.afterImage, fill: colours.fill, own: {} },
    ];
    const shape: Style = {
      flexDirection: isStacked ? "row" : "column",
      borderRadius: 36,
      overflow: "hidden",
    };
    const panels = halves.map(async ({ heading, photo, fill, own }, i) => {
      const inks = inksOn([fill], own, fill);
      const color = i === 0 ? inks.muted : inks.text;
      const name = await stack(canvas, { ...inner, height: 48 }, [
        { text: heading, min: 20, max: 28, style: label(inks.muted) },
      ]);
      const words = texts
        .slice(i, i + 1)
        .map((text) => ({ ...text, style: { ...text.style, color } }));
      return box({ ...panel, ...shape, backgroundColor: fill }, [
        ...(photo ? [image(photo, shown)] : []),
        column({ padding: pad, flexGrow: 1, justifyContent: "space-between" }, [...name, ...words]),
      ]);
    });
    const turn = isStacked ? 90 : directionOf(config.before) === "rtl" ? 180 : 0;
    const arrow = row(
      {
        position: "absolute",
        left: (width - disc) / 2,
        top: ((isStacked ? 2 * panel.height + gap : panel.height) - disc) / 2,
        width: disc,
        height: disc,
        borderRadius: disc / 2,
        justifyContent: "center",
        backgroundColor: colours.from,
        transform: `rotate(${turn}deg)`,
      },
      [icon(arrowPath, 44, colours.accent)],
    );
    return page(config, canvas, colours, {
      text: config.before,
      children: [
        ...title,
        box({ position: "relative", gap, flexDirection: isStacked ? "column" : "row" }, [
          ...(await Promise.all(panels)),
          arrow,
        ]),
        ...signed,
      ],
    });
  },
};
