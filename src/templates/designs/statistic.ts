import type { Node } from "@takumi-rs/core";
import { z } from "zod";
import { bars, line } from "../charts.ts";
import { commonImages, commonKeys } from "../keys.ts";
import { palette } from "../palette.ts";
import { column, icon, page, row, safeArea, signature, signatureHeight } from "../parts.ts";
import type { Template } from "../template.ts";
import { body, display, hugging, inRatio, stack } from "../typography.ts";

const arrows = {
  up: "M12 4l8 9h-5v7h-6v-7H4z",
  down: "M12 20l-8-9h5V4h6v7h5z",
  flat: "M20 12l-9 8v-5H4V9h7V4z",
};

const config = z.strictObject({
  value: z.string().min(1).max(24).describe("The number, as it should be read: 48%, $1.2M"),
  label: z.string().min(1).max(300).describe("What the number counts"),
  trend: z.string().max(60).optional().describe("How it has changed, such as +12% in a year"),
  direction: z.enum(["up", "down", "flat"]).default("up").describe("Which way it has changed"),
  values: z
    .array(z.number().min(-1e12).max(1e12))
    .max(24)
    .default([])
    .describe("The values over time, for a small chart; two at least"),
  chart: z.enum(["bars", "line"]).default("bars").describe("How the values are drawn"),
  note: z.string().max(160).optional().describe("Where the number is from"),
  ...commonKeys,
});

export const statistic: Template<typeof config> = {
  slug: "statistic",
  title: "Statistic",
  description: "One number, as large as it goes, with its trend and a small chart",
  version: 1,
  config,
  images: commonImages,
  example: {
    value: "73%",
    label: "of our readers finish an article they start",
    trend: "+18 points since January",
    values: [31, 38, 36, 44, 52, 61, 73],
    note: "Own survey of 2,400 readers",
    handle: "@fieldnotes",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#06281f", accent: "#b6f13c" });
    const { width, height } = safeArea(canvas);
    const signed = await signature(config, canvas, colours, width);
    const note = await stack(canvas, { width, height: 76 }, [
      { text: config.note, min: 20, max: 26, style: body(colours.muted) },
    ]);
    const trendStyle = body(colours.accentText, { fontWeight: 700 });
    const trend = await stack(canvas, { width: width - 60, height: 60 }, [
      { text: config.trend, min: 22, max: 38, style: trendStyle },
    ]);
    const hasChart = config.values.length > 1;
    const chartHeight = hasChart ? Math.round(height * inRatio(canvas, [0.2, 0.26, 0.3])) : 0;
    const taken =
      chartHeight + trend.length * 84 + note.length * 100 + signed.length * signatureHeight + 56;
    const [number, ...what] = await stack(canvas, { width, height: height - taken, gap: 24 }, [
      {
        text: config.value,
        min: 64,
        max: hasChart ? [300, 380, 440] : [400, 460, 520],
        style: display(colours.accent, { lineHeight: 1, letterSpacing: "-0.045em" }),
      },
      {
        text: config.label,
        min: 30,
        max: [52, 58, 62],
        style: body(colours.text, { fontWeight: 600, lineHeight: 1.3, textWrap: "balance" }),
      },
    ]);
    const arrow = icon(arrows[config.direction], 44, colours.accent);
    const draw = config.chart === "line" ? line : bars;
    const chart: Node[] = hasChart
      ? [draw(config.values, { width, height: chartHeight }, colours)]
      : [];
    return page(config, canvas, colours, {
      text: config.label,
      style: { gap: 32 },
      children: [
        column({ gap: 24 }, [
          ...(number ? [number] : []),
          ...what,
          ...trend.map((text) => row({ gap: 16 }, [arrow, hugging(text)])),
        ]),
        ...chart,
        column({ gap: 24 }, [...note, ...signed]),
      ],
    });
  },
};
