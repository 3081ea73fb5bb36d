import { availableParallelism } from "node:os";
import type { ErrorDetail } from "../errors.ts";
import { createDraw, tidyConfig } from "./draw.ts";
import type { Draw, PictureConfig } from "./draw.ts";
import { splitEmoji } from "./emoji.ts";
import { createFonts } from "./fonts.ts";
import { createSlots } from "./slots.ts";
import type { Slots } from "./slots.ts";
import type { Template } from "./template.ts";
import { textsOf } from "./text.ts";

const maxWaiting = 100;

/** What draws the pictures of one process. */
export interface Studio {
  /** One drawing per core at a time. */
  draw: Draw;
  /** For the pictures in them: as many are decoded at a time. */
  prepare: Slots;
  /** The texts that can't be drawn as they were written, and why. */
  findFaults(template: Template, config: PictureConfig): Promise<ErrorDetail[]>;
}

const named = (character: string): string => {
  const codes = Array.from(
    character,
    (each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
  return `${character.toWellFormed()} (${codes.join(" ")})`;
};

export function createStudio(): Studio {
  const fonts = createFonts();
  const draw = createDraw(fonts);
  const drawing = createSlots(availableParallelism(), maxWaiting);

  async function missingIn(value: unknown): Promise<string[]> {
    const { letters, missing } = splitEmoji(textsOf(value).join("\n"));
    return [...missing, ...(await fonts.chainFor(letters)).missing];
  }

  return {
    draw: async (...input) => await drawing(async () => await draw(...input)),
    prepare: createSlots(availableParallelism(), maxWaiting),
    async findFaults(template, config) {
      const faults: ErrorDetail[] = [];
      for (const [key, value] of Object.entries(await tidyConfig(template, config, fonts))) {
        if (template.images.includes(key)) continue;
        const missing = await missingIn(value);
        if (missing.length === 0) continue;
        const message = `No font has these characters: ${missing.slice(0, 10).map(named).join(", ")}`;
        faults.push({ field: `body.config.${key}`, message, code: "unsupported_character" });
      }
      return faults;
    },
  };
}
