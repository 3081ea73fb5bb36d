import type { MeasuredNode, Node } from "@takumi-rs/core";
import { withEmoji } from "./emoji.ts";
import type { TextBox } from "./template.ts";
import { directionOf } from "./text.ts";

export type Measure = (node: Node) => Promise<MeasuredNode>;

// Their marks above and below would touch the next line.
const tallScripts = /[\p{Script=Arabic}\p{Script=Thai}\p{Script=Devanagari}]/u;
const tallLineHeight = 1.45;
const loose = /[\s.,;:!?…،。、]/u;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function textNode(text: string, fontSize: number, { width, style }: TextBox): Node {
  const { lineHeight } = style ?? {};
  const isTight = typeof lineHeight !== "number" || lineHeight < tallLineHeight;
  return withEmoji({
    type: "text",
    text,
    dir: directionOf(text),
    style: {
      whiteSpace: "pre-line",
      overflowWrap: "anywhere",
      ...style,
      // Korean is written with blanks between its words, and read by them.
      ...(/\p{Script=Hangul}/u.test(text) && { wordBreak: "keep-all" }),
      ...(isTight && tallScripts.test(text) && { lineHeight: tallLineHeight }),
      width,
      fontSize,
    },
  });
}

/** From the left end of the leftmost to the right end of the rightmost part. */
function spanOf({ runs, children }: MeasuredNode): number {
  const starts = [...runs.map(({ x }) => x), ...children.map(({ transform }) => transform[4])];
  const ends = [
    ...runs.map(({ x, width }) => x + width),
    ...children.map(({ transform, width }) => transform[4] + width),
  ];
  return starts.length === 0 ? 0 : Math.max(...ends) - Math.min(...starts);
}

const isUnwrapped = ({ style }: TextBox): boolean =>
  style?.whiteSpace === "nowrap" || style?.whiteSpace === "pre";

interface Search {
  low: number;
  high: number;
  first: number;
  /** How much of the box is filled; more than 1 does not fit. */
  fillAt(value: number): Promise<number>;
  /** With which power of the value the box fills. */
  power: number;
}

/** The largest whole number that fits, or one less than `low`. Guesses by the power, and halves where that misleads. */
async function largest({ low, high, first, fillAt, power }: Search): Promise<number> {
  let [passed, failed, guess] = [low - 1, high + 1, Math.max(low, Math.min(first, high))];
  for (let step = 1; failed - passed > 1; step++) {
    const fill = await fillAt(guess);
    if (fill <= 1) passed = guess;
    else failed = guess;
    const next = step % 3 === 0 ? (passed + failed) >> 1 : Math.floor(guess / fill ** (1 / power));
    guess = Math.min(Math.max(next, passed + 1), failed - 1);
  }
  return passed;
}

/** Above this size the longest word would have to be broken. The largest one where it must be broken anyway. */
async function sizeOfLongestWord(measure: Measure, text: string, box: TextBox): Promise<number> {
  // Every blank becomes a place to break that has no width, so that no line measures the blank at its end.
  const words = isUnwrapped(box) ? text : text.replaceAll(/\s+/g, "\u200B");
  const style = { ...box.style, overflowWrap: "normal" } as const;
  const span = spanOf(await measure(textNode(words, box.maxSize, { ...box, width: 1, style })));
  const size = Math.floor((box.maxSize * box.width) / Math.max(span, 1));
  return size < box.minSize && !isUnwrapped(box) ? box.maxSize : Math.min(size, box.maxSize);
}

/** Up to an index, without what would look lost before an ellipsis. */
function beginning(text: string, end: number): string {
  let kept = end;
  while (kept > 0 && loose.test(text.charAt(kept - 1))) kept--;
  return text.slice(0, kept);
}

/** The longest beginning that fits in the smallest size, with an ellipsis. */
async function cut(text: string, fillWith: (text: string) => Promise<number>): Promise<string> {
  const ends = Array.from(graphemes.segment(text), ({ index }) => index);
  const upTo = (count: number): string => `${beginning(text, ends[count] ?? text.length)}…`;
  const fillAt = async (count: number): Promise<number> => await fillWith(upTo(count));
  const high = ends.length - 1;
  return upTo(Math.max(0, await largest({ low: 0, high, first: high, fillAt, power: 1 })));
}

/** `Canvas.fit`. A text in its largest size: no word broken where that can be helped, everything inside the box. */
export async function fitText(measure: Measure, text: string, box: TextBox): Promise<Node> {
  const { minSize, maxSize } = box;
  const fillOf = (measured: MeasuredNode): number =>
    Math.max(measured.height / box.height, isUnwrapped(box) ? spanOf(measured) / box.width : 0);
  const fill = async (content: string, size: number): Promise<number> =>
    fillOf(await measure(textNode(content, size, box)));

  const style = { ...box.style, overflowWrap: "normal" } as const;
  const unbroken = await measure(textNode(text, maxSize, { ...box, style }));
  const isWide = spanOf(unbroken) > box.width;
  const tried = fillOf(unbroken);
  if (!isWide && tried <= 1) return textNode(text, maxSize, box);
  const high = isWide ? await sizeOfLongestWord(measure, text, box) : maxSize - 1;
  // Lines that wrap fill a box with the square of their size.
  const first = isWide ? high : Math.floor(maxSize / Math.sqrt(tried));
  const fillAt = async (size: number): Promise<number> => await fill(text, size);
  const size = await largest({ low: minSize, high, first, fillAt, power: 2 });
  if (size >= minSize) return textNode(text, size, box);
  return textNode(await cut(text, async (part) => await fill(part, minSize)), minSize, box);
}
