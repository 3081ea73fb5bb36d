/** The characters a font has, as ranges of code points in ascending order. */
export class Coverage {
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;

  constructor(ranges: readonly (readonly [start: number, end: number])[]) {
    this.#starts = Uint32Array.from(ranges, ([start]) => start);
    this.#ends = Uint32Array.from(ranges, ([, end]) => end);
  }

  has(codePoint: number): boolean {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (codePoint < (this.#starts[middle] ?? 0)) high = middle - 1;
      else if (codePoint > (this.#ends[middle] ?? 0)) low = middle + 1;
      else return true;
    }
    return false;
  }
}

type Range = [start: number, end: number];

/** Where the table of characters begins that knows most: format 12 (all of Unicode) before 4 (its first 65,536). */
function findSubtable(font: DataView): { at: number; format: number } {
  const tables = Array.from({ length: font.getUint16(4) }, (_, index) => 12 + index * 16);
  const record = tables.find((at) => font.getUint32(at) === 0x636d6170); // "cmap"
  if (record === undefined) throw new Error("a font without a table of characters");
  const cmap = font.getUint32(record + 8);
  const subtables = Array.from({ length: font.getUint16(cmap + 2) }, (_, index) => {
    const at = cmap + font.getUint32(cmap + 4 + index * 8 + 4);
    return { at, format: font.getUint16(at) };
  });
  const known =
    subtables.find(({ format }) => format === 12) ?? subtables.find(({ format }) => format === 4);
  if (!known) throw new Error("a font whose table of characters is of an unknown format");
  return known;
}

function readGroups(font: DataView, at: number): Range[] {
  return Array.from({ length: font.getUint32(at + 12) }, (_, index) => {
    const group = at + 16 + index * 12;
    return [font.getUint32(group), font.getUint32(group + 4)];
  });
}

function readSegments(font: DataView, at: number): Range[] {
  const lengthBytes = font.getUint16(at + 6);
  const ranges: Range[] = [];
  for (let offset = 0; offset < lengthBytes; offset += 2) {
    const endAt = at + 14 + offset;
    const startAt = endAt + lengthBytes + 2;
    const glyphsAt = startAt + 2 * lengthBytes;
    const [start, end] = [font.getUint16(startAt), font.getUint16(endAt)];
    const delta = font.getUint16(startAt + lengthBytes);
    const glyphs = font.getUint16(glyphsAt);
    // The last segment is an end mark.
    if (start === 0xffff) continue;
    for (let code = start; code <= end; code++) {
      const glyph = glyphs ? font.getUint16(glyphsAt + glyphs + 2 * (code - start)) : code + delta;
      // Glyph 0 is the box for what is not there.
      if ((glyph & 0xffff) === 0) continue;
      const last = ranges.at(-1);
      if (last && last[1] === code - 1) last[1] = code;
      else ranges.push([code, code]);
    }
  }
  return ranges;
}

/** From a TrueType file's `cmap` table (OpenType 1.9, "cmap"). */
export function readCoverage({ buffer, byteOffset, byteLength }: Uint8Array): Coverage {
  const font = new DataView(buffer, byteOffset, byteLength);
  const { at, format } = findSubtable(font);
  return new Coverage(format === 12 ? readGroups(font, at) : readSegments(font, at));
}
