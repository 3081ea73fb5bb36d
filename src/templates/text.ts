import { hasPicture } from "./emoji.ts";

const pictograph = /(\p{Extended_Pictographic})\uFE0E?(?![\uFE0F\u200D\p{Emoji_Modifier}])/gu;

/**
 * A text as it is drawn: composed letters, one kind of line break, blanks that every font has, no control characters.
 * A sign such as ☎ that the text fonts lack becomes its emoji.
 */
export async function tidy(
  text: string,
  isCommon: (character: string) => Promise<boolean>,
): Promise<string> {
  const plain = text
    .normalize("NFC")
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll("\t", "    ")
    .replaceAll(/(?![\n\u00A0\u3000])[\p{Zs}]/gu, " ")
    .replaceAll(/(?!\n)\p{Cc}/gu, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimEnd();
  const drawn = new Set<string>();
  for (const [, sign = ""] of plain.matchAll(pictograph))
    if (hasPicture(sign) && !(await isCommon(sign))) drawn.add(sign);
  return plain.replaceAll(pictograph, (found, sign: string) =>
    drawn.has(sign) ? `${sign}\uFE0F` : found,
  );
}

const rightToLeft = /^[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** As `dir="auto"`: the first letter decides. */
export function directionOf(text: string): "ltr" | "rtl" {
  return rightToLeft.test(text.match(/\p{L}/u)?.[0] ?? "") ? "rtl" : "ltr";
}

/** Every text of a config: its strings, and those of its lists. */
export function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.flatMap(textsOf) : [];
}
