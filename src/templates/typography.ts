import type { Node } from "@takumi-rs/core";
import type { Canvas, Ratio } from "./template.ts";

export type Style = NonNullable<Node["style"]>;
/** A style that depends on the script of the text. */
export type TypeStyle = (text: string) => Style;

// Their letters hang together or stack: no spacing between, and more room above and below.
const joinedScripts = /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Thai}]/u;

function typeStyle(style: Style, loose: Style): TypeStyle {
  return (text) => ({ textAlign: "start", ...style, ...(joinedScripts.test(text) && loose) });
}

/** Large, dense type for what is read first. */
export const display = (color: string, style: Style = {}): TypeStyle =>
  typeStyle(
    {
      color,
      fontWeight: 800,
      lineHeight: 1.1,
      letterSpacing: "-0.025em",
      textWrap: "balance",
      ...style,
    },
    { lineHeight: 1.5, letterSpacing: 0 },
  );

export const body = (color: string, style: Style = {}): TypeStyle =>
  typeStyle({ color, fontWeight: 400, lineHeight: 1.4, ...style }, { lineHeight: 1.6 });

/** Small spaced capitals. */
export const label = (color: string, style: Style = {}): TypeStyle =>
  typeStyle(
    {
      color,
      fontWeight: 700,
      lineHeight: 1.2,
      letterSpacing: "0.08em",
      textTransform: "uppercase",
      ...style,
    },
    { lineHeight: 1.5, letterSpacing: 0 },
  );

/** One number for all ratios, or one each for 1:1, 4:5 and 9:16. */
export type Sizes = number | readonly [square: number, portrait: number, story: number];

export function inRatio({ ratio }: { ratio: Ratio }, sizes: Sizes): number {
  if (typeof sizes === "number") return sizes;
  const [square, portrait, story] = sizes;
  return { "1:1": square, "4:5": portrait, "9:16": story }[ratio];
}

export interface Area {
  width: number;
  height: number;
  gap?: number;
}

/** A text and the range of its size. */
export interface Block {
  text: string | undefined;
  min: number;
  max: Sizes;
  style: TypeStyle;
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** What a reader takes for one letter, such as an emoji made of several. */
export const lettersOf = (text: string): string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment);

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Height that a text would take, near enough to share out room by. */
function heightAt(text: string, size: number, width: number, style: Style): number {
  const lines = text.split("\n").map((line) => {
    const widths = lettersOf(line).map((letter) => (letter >= "\u2e80" ? 1 : 0.56));
    return Math.max(1, Math.ceil((sum(widths) * size) / width));
  });
  return sum(lines) * size * Number(style.lineHeight);
}

/** Shares of a room: little wants are met before great ones, and what is over is for all. */
function shareOut(room: number, wants: readonly number[]): number[] {
  const weights = wants.map(Math.sqrt);
  const first = wants.map((want, i) =>
    Math.min(want, (room * (weights[i] ?? 0)) / (sum(weights) || 1)),
  );
  const over = room - sum(first);
  const unmet = wants.map((want, i) => want - (first[i] ?? 0));
  const part = (i: number): number =>
    sum(unmet) > 0 ? (unmet[i] ?? 0) / sum(unmet) : 1 / wants.length;
  return first.map((share, i) => share + over * part(i));
}

/** The texts of a column, those that are given. Each has the room of its smallest size, and a share of the rest. */
export async function stack(canvas: Canvas, area: Area, blocks: readonly Block[]): Promise<Node[]> {
  const { width, height, gap = 0 } = area;
  const texts = blocks.flatMap(({ text, min: minSize, max, style }) => {
    if (text === undefined || text === "") return [];
    const type = { minSize, maxSize: inRatio(canvas, max), style: style(text) };
    const least = heightAt(text, minSize, width, type.style);
    return [{ text, type, least, most: heightAt(text, type.maxSize, width, type.style) }];
  });
  const room = height - gap * (texts.length - 1);
  const least = sum(texts.map((text) => text.least));
  const scale = Math.min(1, room / least);
  const shares = shareOut(
    Math.max(0, room - least),
    texts.map((text) => text.most - text.least),
  );
  return await Promise.all(
    texts.map(async ({ text, type, least }, i) => {
      const own = Math.floor(least * scale + (shares[i] ?? 0));
      return await canvas.fit(text, { width, height: own, ...type });
    }),
  );
}

/** Texts of equal standing, each in a box of the same size: all as large as the longest can be. */
export async function alike(
  canvas: Canvas,
  area: Area,
  { texts, ...type }: Omit<Block, "text"> & { texts: readonly string[] },
): Promise<Node[]> {
  const fit = async (max: number): Promise<Node[]> =>
    (
      await Promise.all(
        texts.map(async (text) => await stack(canvas, area, [{ ...type, text, max }])),
      )
    ).flat();
  const max = inRatio(canvas, type.max);
  const first = await fit(max);
  const smallest = Math.min(...first.map(({ style }) => Number(style?.fontSize)));
  return smallest === max ? first : await fit(smallest);
}

/** A text that takes the width of its words instead of its box. */
export const hugging = (node: Node): Node => ({
  ...node,
  style: { ...node.style, width: "auto", maxWidth: node.style?.width },
});
