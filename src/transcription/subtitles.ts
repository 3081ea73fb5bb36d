import type { Segment } from "./transcript.ts";

const lineLength = 42;
const linesPerCue = 2;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const lettersOf = (word: string): string[] =>
  Array.from(graphemes.segment(word), ({ segment }) => segment);

/** Words that fit on a line; what is longer than a line by itself, as text without spaces is, is cut. */
function* piecesOf(text: string): Generator<{ piece: string; length: number; glue: string }> {
  for (const word of text.split(/[\s\p{Cc}]+/u).filter(Boolean)) {
    const letters = lettersOf(word);
    for (let at = 0; at < letters.length; at += lineLength) {
      const part = letters.slice(at, at + lineLength);
      yield { piece: part.join(""), length: part.length, glue: at === 0 ? " " : "" };
    }
  }
}

function linesOf(text: string): string[] {
  const lines: string[] = [];
  let room = 0;
  for (const { piece, length, glue } of piecesOf(text)) {
    if (room < length + glue.length) {
      lines.push(piece);
      room = lineLength - length;
    } else {
      lines.push(`${lines.pop()}${glue}${piece}`);
      room -= length + glue.length;
    }
  }
  return lines;
}

/** A segment of more than two lines becomes several, each for the share of the time that its letters have. */
function* cuesOf({
  start,
  end,
  text,
}: Segment): Generator<{ from: number; to: number; lines: string[] }> {
  const lines = linesOf(text);
  const total = lines.join("").length;
  const seconds = Math.max(end - start, 0.001);
  let done = 0;
  for (let at = 0; at < lines.length; at += linesPerCue) {
    const part = lines.slice(at, at + linesPerCue);
    const from = start + (seconds * done) / total;
    done += part.join("").length;
    yield { from, to: start + (seconds * done) / total, lines: part };
  }
}

function timeOf(seconds: number, mark: "," | "."): string {
  const ms = Math.max(0, Math.round(seconds * 1_000));
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}`;
  return `${clock}${mark}${String(ms % 1_000).padStart(3, "0")}`;
}

function write(segments: readonly Segment[], mark: "," | ".", escape: (line: string) => string) {
  return segments
    .flatMap((segment) => [...cuesOf(segment)])
    .map(({ from, to, lines }, index) => {
      const times = `${timeOf(from, mark)} --> ${timeOf(to, mark)}`;
      return `${index + 1}\n${times}\n${lines.map(escape).join("\n")}\n\n`;
    })
    .join("");
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export const toVtt = (segments: readonly Segment[]): string =>
  `WEBVTT\n\n${write(segments, ".", (line) => line.replaceAll(/[&<>]/g, (sign) => entities[sign] ?? sign))}`;

/** SubRip has no way to escape: what would read as a time line is written as the arrow that it stands for. */
export const toSrt = (segments: readonly Segment[]): string =>
  write(segments, ",", (line) => line.replaceAll("-->", "→"));
