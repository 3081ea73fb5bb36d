import type { Transcript } from "./transcript.ts";

export interface LyricsHints {
  /** As Whisper models tell them: how surely there is no speech, how well the text compresses. */
  noSpeech?: number | undefined;
  compressionRatio?: number | undefined;
}

// Sung or rapped, told by the shape of the text. Each rule gives points, two make lyrics:
//   2  music marks: a quarter of the lines has a note (♪) or a heading such as [Chorus] or [Music]
//   2  refrain: 30 % of the words stand in phrases of four words that come again; 1 from 15 % on
//   1  verses: half of at least six lines rhyme with one of the two next lines
//   1  short lines: most of at least six lines have at most twelve words and no full stop
//   1  the model hears no speech (over 0.6) and has words all the same
//   1  the text repeats itself so much that it compresses well (over 2.4)
// Talk reaches one point at times: a speaker's refrain, a dialogue's short lines. Under 12 words nothing is said.

const marks =
  /[♩♪♫♬🎵🎶]|[[(](?:music|singing|sings|song|chorus|verse|bridge|hook|refrain)\b[^\])]*[\])]/giu;
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];
const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** The share of the words that stand in a phrase of four which the text has more than once. */
function repetition(words: string[]): number {
  const phrases = words.slice(3).map((_, at) => words.slice(at, at + 4).join(" "));
  const counts = Map.groupBy(phrases, (phrase) => phrase);
  const repeated = new Set<number>();
  phrases.forEach((phrase, at) => {
    if ((counts.get(phrase)?.length ?? 0) > 1) [0, 1, 2, 3].forEach((i) => repeated.add(at + i));
  });
  return share(repeated.size, words.length);
}

/** From the last vowels of the last word on; a silent e is not one. */
const rhymeOf = (line: string): string =>
  /[aeiouy]+[^aeiouy]*$/.exec((wordsOf(line).at(-1) ?? "").replace(/(?<=[aeiouy].*)e$/, ""))?.[0] ??
  "";

function rhymes(lines: string[]): number {
  const ends = lines.map(rhymeOf);
  const pairs = ends.filter((end, at) => end && ends.slice(at + 1, at + 3).includes(end));
  return share(2 * pairs.length, lines.length);
}

/** Whether this is a song rather than talk. */
export function likelyLyrics(
  { text, segments }: Pick<Transcript, "text" | "segments">,
  { noSpeech = 0, compressionRatio = 0 }: LyricsHints = {},
): boolean {
  const written = segments.length > 1 ? segments.map((each) => each.text).join("\n") : text;
  const lines = written.split("\n").filter((line) => line.trim());
  const words = wordsOf(written.replaceAll(marks, " "));
  if (words.length < 12) return false;
  // Engines that punctuate end a sung line by a comma or a full stop and not by a new line.
  const verses = written.split(/[\n.,;!?]+/).filter((line) => wordsOf(line).length > 0);
  const short = lines.filter(
    (line) => wordsOf(line).length <= 12 && !/[.?!…]["”’]?\s*$/.test(line),
  );
  const refrain = repetition(words);
  const points =
    (share(lines.filter((line) => line.search(marks) >= 0).length, lines.length) >= 0.25 ? 2 : 0) +
    (refrain >= 0.3 ? 2 : refrain >= 0.15 ? 1 : 0) +
    (verses.length >= 6 && rhymes(verses) >= 0.5 ? 1 : 0) +
    (lines.length >= 6 && share(short.length, lines.length) > 0.5 ? 1 : 0) +
    (noSpeech > 0.6 ? 1 : 0) +
    (compressionRatio > 2.4 ? 1 : 0);
  return points >= 2;
}
