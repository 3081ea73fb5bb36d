import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Renderer } from "@takumi-rs/core";
import { readCoverage } from "./coverage.ts";
import type { Coverage } from "./coverage.ts";

interface Family {
  name: string;
  /** Its package, below `@expo-google-fonts`. */
  folder: string;
  weights: readonly Weight[];
}

const weightNames = {
  400: "400Regular",
  600: "600SemiBold",
  700: "700Bold",
  800: "800ExtraBold",
} as const;
type Weight = keyof typeof weightNames;

const noto = (script: string): Family => ({
  name: `Noto Sans ${script}`,
  folder: `noto-sans-${script.toLowerCase()}`,
  weights: [400, 700],
});

// Latin, Cyrillic and Greek are Inter's. The order is the one in which a character looks for its glyph.
const always: readonly Family[] = [
  { name: "Inter", folder: "inter", weights: [400, 600, 700, 800] },
  { name: "JetBrains Mono", folder: "jetbrains-mono", weights: [400, 700] },
  ...["Arabic", "Hebrew", "Devanagari", "Thai"].map(noto),
];
const [chinese, japanese, korean] = [noto("SC"), noto("JP"), noto("KR")];

/** What takes no glyph: line breaks, joiners, direction marks, variation selectors. */
const unseen = /[\n\p{Default_Ignorable_Code_Point}]/u;

export interface Chain {
  /** The families that draw a text, in the order in which they are asked. All of them are there to be used. */
  families: string[];
  /** The characters that none of them has. */
  missing: string[];
}

export interface Fonts {
  renderer: Renderer;
  /** Whether the fonts that are always there have a character. */
  isCommon(character: string): Promise<boolean>;
  chainFor(text: string): Promise<Chain>;
}

/** The same Han character is drawn otherwise in Japan, Korea and China; the letters around it tell which is meant. */
function eastAsian(text: string): Family[] {
  const preferred = [
    ...(/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? [japanese] : []),
    ...(/\p{Script=Hangul}/u.test(text) ? [korean] : []),
  ];
  return [...new Set([...preferred, chinese, japanese, korean])];
}

async function readFont({ name, folder }: Family, weight: Weight): Promise<Buffer> {
  const style = weightNames[weight];
  const file = `${folder}/${style}/${name.replaceAll(" ", "")}_${style}.ttf`;
  return await readFile(fileURLToPath(import.meta.resolve(`@expo-google-fonts/${file}`)));
}

/** One act per family, remembered unless it fails. */
function once<Result>(
  act: (family: Family) => Promise<Result>,
): (family: Family) => Promise<Result> {
  const done = new Map<Family, Promise<Result>>();
  return async (family) => {
    const promise = done.get(family) ?? act(family);
    done.set(family, promise);
    try {
      return await promise;
    } catch (error) {
      done.delete(family);
      throw error;
    }
  };
}

/** The East Asian fonts are large (44 MB): each is read when a text first needs it. */
export function createFonts(): Fonts {
  const renderer = new Renderer();
  const coverageOf = once(async (family) => readCoverage(await readFont(family, 400)));
  const register = once(async (family) => {
    for (const weight of family.weights)
      await renderer.registerFont({
        name: family.name,
        weight,
        data: await readFont(family, weight),
      });
  });

  const lacking = (characters: string[], coverage: Coverage): string[] =>
    characters.filter((character) => !coverage.has(character.codePointAt(0) ?? 0));

  async function lackingAlways(characters: string[]): Promise<string[]> {
    let missing = characters;
    for (const family of always) missing = lacking(missing, await coverageOf(family));
    return missing;
  }

  return {
    renderer,
    isCommon: async (character) => (await lackingAlways([character])).length === 0,
    async chainFor(text) {
      const seen = [...new Set(text)].filter((character) => !unseen.test(character));
      const used = [...always];
      let missing = await lackingAlways(seen);
      for (const family of eastAsian(text)) {
        if (missing.length === 0) break;
        const left = lacking(missing, await coverageOf(family));
        if (left.length < missing.length) used.push(family);
        missing = left;
      }
      for (const family of used) await register(family);
      return { families: used.map(({ name }) => name), missing };
    },
  };
}
