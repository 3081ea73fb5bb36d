import { lettersOf } from "./typography.ts";

// Code in a fixed-width type: how it breaks into lines, and how large it can be.

export const leading = 1.5;
/** Of JetBrains Mono, in parts of its size. */
export const letterWidth = 0.6;
const smallest = 16;
/** Below this, long lines are broken rather than made smaller still. */
const comfortable = 26;

export interface Line {
  /** Empty where a line that was too long goes on. */
  number: string;
  code: string;
}

function wrap(code: string, columns: number): Line[] {
  return code.split("\n").flatMap((line, i) => {
    const parts: string[] = [""];
    let used = 0;
    for (const letter of lettersOf(line)) {
      // Letters of other fonts are two columns wide at most.
      const width = letter > "\u024f" ? 2 : 1;
      if (used + width > columns) {
        parts.push("");
        used = 0;
      }
      parts.push(`${parts.pop() ?? ""}${letter}`);
      used += width;
    }
    return parts.map((part, at) => ({ number: at === 0 ? String(i + 1) : "", code: part }));
  });
}

interface Typeset {
  size: number;
  /** Width of the column of numbers. Two letters of room come after it. */
  gutter: number;
  lines: Line[];
}

/** In the largest size in which all lines have room; in the smallest, as many as have. */
export function typeset(
  code: string,
  { width, height, maxSize }: { width: number; height: number; maxSize: number },
): Typeset {
  const count = code.split("\n").length;
  const digits = Math.max(2, String(count).length);
  for (let size = maxSize; ; size -= 1) {
    const gutter = Math.ceil(size * letterWidth * digits) + 1;
    const lines = wrap(code, Math.floor((width - gutter) / (size * letterWidth)) - 2);
    const room = Math.floor(height / (size * leading));
    const isWhole = lines.length === count || size <= comfortable;
    if (lines.length <= room && isWhole) return { size, gutter, lines };
    if (size <= smallest)
      return { size, gutter, lines: [...lines.slice(0, room - 1), { number: "", code: "…" }] };
  }
}
