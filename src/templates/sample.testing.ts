import { z } from "zod";
import type { Template } from "./template.ts";

const config = z.strictObject({
  text: z.string().max(1_000).default("Sample").describe("What it says"),
  picture: z.string().max(2_048).optional().describe("An address or a media id"),
});

/** One text over the whole picture, and a picture where one is given. */
export const sample: Template<typeof config> = {
  slug: "sample",
  title: "Sample",
  description: "For tests",
  version: 1,
  config,
  images: ["picture"],
  example: { text: "Sample" },
  async layout({ text, picture }, { width, height, fit }) {
    const box = { width: width - 160, height: height - 480, minSize: 32, maxSize: 160 };
    const style = { fontWeight: 700, lineHeight: 1.2, color: "#111827" };
    return {
      type: "container",
      style: {
        width,
        height,
        padding: 80,
        display: "flex",
        flexDirection: "column",
        gap: 40,
        backgroundColor: "#f9fafb",
      },
      children: [
        await fit(text, { ...box, style }),
        ...(picture
          ? [{ type: "image" as const, src: picture, style: { width: 200, height: 200 } }]
          : []),
      ],
    };
  },
};
