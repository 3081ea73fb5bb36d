import { z } from "zod";
import { commonImages, commonKeys } from "../keys.ts";
import { palette } from "../palette.ts";
import { box, column, icon, page, safeArea, signature, signatureHeight } from "../parts.ts";
import type { Template } from "../template.ts";
import { display, inRatio, stack } from "../typography.ts";

const mark =
  "M10 5.500C6 7.200 3.500 10.300 3.500 14.200c0 2.700 1.600 4.300 3.700 4.300 2 0 3.500-1.500 3.500-3.400 0-1.900-1.300-3.300-3.100-3.300-.4 0-.8.1-1 .2.400-1.900 2.100-3.700 4.300-4.700zM20.500 5.500c-4 1.700-6.500 4.800-6.500 8.700 0 2.700 1.600 4.300 3.700 4.300 2 0 3.500-1.500 3.500-3.400 0-1.900-1.300-3.300-3.100-3.300-.4 0-.8.1-1 .2.400-1.900 2.100-3.700 4.300-4.700z";

const config = z.strictObject({
  quote: z.string().min(1).max(300).describe("What was said, without quotation marks"),
  ...commonKeys,
});

export const quote: Template<typeof config> = {
  slug: "quote",
  title: "Quote",
  description: "A sentence worth remembering, large on warm paper, with who said it",
  version: 1,
  config,
  images: commonImages,
  example: {
    quote: "Do the quiet work first. The loud work will have more to say.",
    author: "Mara Lindqvist",
    handle: "@slowcraft",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#f5efe4", accent: "#d9480f" });
    const { width, height } = safeArea(canvas);
    const signed = await signature(config, canvas, colours, width);
    const markSize = inRatio(canvas, [132, 160, 190]);
    const taken = markSize + 80 + signed.length * (signatureHeight + 40);
    const words = await stack(canvas, { width, height: height - taken }, [
      {
        text: config.quote,
        min: 40,
        max: [150, 168, 176],
        style: display(colours.text, { fontWeight: 700 }),
      },
    ]);
    const rule = { width: 96, height: 8, borderRadius: 4, backgroundColor: colours.accent };
    return page(config, canvas, colours, {
      text: config.quote,
      children: [
        column({ marginTop: -markSize / 5, gap: 20 }, [
          icon(mark, markSize, colours.accent),
          ...words,
        ]),
        column({ gap: 32 }, signed.length > 0 ? [box(rule), ...signed] : []),
      ],
    });
  },
};
