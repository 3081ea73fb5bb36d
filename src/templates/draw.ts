import type { ImageSource } from "@takumi-rs/core";
import { emojiImages, splitEmoji, withEmoji } from "./emoji.ts";
import { fitText } from "./fit.ts";
import { createFonts } from "./fonts.ts";
import type { Fonts } from "./fonts.ts";
import { ratios } from "./template.ts";
import type { Ratio, Template } from "./template.ts";
import { textsOf, tidy } from "./text.ts";

/** What was said of a picture, checked by its template's schema. */
export type PictureConfig = Record<string, unknown>;

/** `images` holds the bytes of the pictures in the config, by the values that name them there. */
export type Draw = (
  template: Template,
  config: PictureConfig,
  ratio: Ratio,
  images: ReadonlyMap<string, Uint8Array>,
) => Promise<Buffer>;

async function tidyValue(value: unknown, fonts: Fonts): Promise<unknown> {
  if (typeof value === "string") return await tidy(value, fonts.isCommon);
  if (Array.isArray(value))
    return await Promise.all(value.map(async (item) => await tidyValue(item, fonts)));
  return value;
}

/** The config with its texts as they are drawn. What names pictures stays as it is. */
export async function tidyConfig(
  { images }: Template,
  config: PictureConfig,
  fonts: Fonts,
): Promise<PictureConfig> {
  const entries = Object.entries(config).map(
    async ([key, value]) =>
      [key, images.includes(key) ? value : await tidyValue(value, fonts)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** A PNG; the same one for the same input. */
export function createDraw(fonts: Fonts = createFonts()): Draw {
  const { renderer } = fonts;
  return async (template, config, ratio, images) => {
    const { width, height } = ratios[ratio];
    const tidied = await tidyConfig(template, config, fonts);
    const texts = Object.entries(tidied)
      .filter(([key]) => !template.images.includes(key))
      .flatMap(([, value]) => textsOf(value));
    // Named for each drawing, so that fonts which others have loaded change nothing.
    const { families: fontFamilies } = await fonts.chainFor(splitEmoji(texts.join("\n")).letters);
    const fit = fitText.bind(
      undefined,
      async (node) => await renderer.measure(node, { fontFamilies }),
    );
    const node = withEmoji(await template.layout(tidied, { ratio, width, height, fit }));
    const sources: ImageSource[] = [
      ...(await emojiImages(node)),
      // Seldom drawn twice: in the cache they would only push out the emoji.
      ...Array.from(images, ([src, data]) => ({ src, data, cache: "none" as const })),
    ];
    return await renderer.render(node, {
      width,
      height,
      format: "png",
      images: sources,
      fontFamilies,
    });
  };
}
