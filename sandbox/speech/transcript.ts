import type { KnownTranscript } from "./settings.ts";
import type { Sound } from "./measure.ts";

export interface Word {
  word: string;
  start: number;
  end: number;
}

export interface Segment {
  start: number;
  end: number;
  text: string;
  avgLogprob: number;
  noSpeechProb: number;
  speaker: string;
  words: Word[];
}

export interface Transcript {
  text: string;
  /** ISO 639-1. */
  language: string;
  seconds: number;
  segments: Segment[];
}

const sentence = "The quick brown fox jumps over the lazy dog.";
/** Nine words at two and a half a second. */
const sentenceSeconds = 3.6;

export const round = (seconds: number): number => Math.round(seconds * 100) / 100;

export function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

/** What is said in a file: what it is known to say, else the sentence over and over until the sound ends. */
export function transcribe(
  sound: Sound,
  known: KnownTranscript | undefined,
  silence: readonly Segment[],
): Transcript {
  const seconds = round(sound.seconds);
  const language = known?.language ?? "en";
  if (known) {
    const whole = { start: 0, end: seconds, text: known.text };
    const segments = known.segments ?? (known.text === "" ? [] : [whole]);
    return { text: known.text, language, seconds, segments: segments.map(spoken) };
  }
  const segments = sound.isSilent
    ? silence.map((segment) => ({ ...segment, end: seconds }))
    : sentences(seconds).map(spoken);
  const text = segments.map((segment) => segment.text).join(" ");
  return { text, language, seconds, segments };
}

/** What Whisper makes of digital silence: nothing, or the words it saw most often under silent pictures. */
export function silentSegments(text: "" | "Thank you."): Segment[] {
  const unsure = { avg_logprob: -1.2, no_speech_prob: 0.95 };
  return [spoken({ start: 0, end: 0, text, ...unsure })];
}

type Given = NonNullable<KnownTranscript["segments"]>[number];

function spoken(given: Given): Segment {
  const { start, end, text, avg_logprob = -0.286, no_speech_prob = 0.0098, speaker = "A" } = given;
  const words = wordsOf(text, start, end);
  return {
    start,
    end,
    text,
    avgLogprob: avg_logprob,
    noSpeechProb: no_speech_prob,
    speaker,
    words,
  };
}

function sentences(seconds: number): Given[] {
  const count = Math.max(1, Math.ceil(seconds / sentenceSeconds));
  return Array.from({ length: count }, (_, index) => ({
    start: round(index * sentenceSeconds),
    end: round(Math.min(seconds, (index + 1) * sentenceSeconds)),
    text: sentence,
  }));
}

/** Spread evenly over their segment. */
function wordsOf(text: string, start: number, end: number): Word[] {
  const words = text.split(/\s+/).filter(Boolean);
  const each = (end - start) / words.length;
  return words.map((word, index) => ({
    word,
    start: round(start + index * each),
    end: round(start + (index + 1) * each),
  }));
}
