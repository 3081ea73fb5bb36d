import type { Answer } from "../answer.ts";
import type { Ask } from "./personality.ts";
import { srt, vtt } from "./subtitles.ts";
import type { Segment, Transcript } from "./transcript.ts";
import { countWords } from "./transcript.ts";

export const isLanguageCode = (code: string): boolean => /^[a-z]{2}$/.test(code);

/** "English"; servers differ in the capital. whisper.cpp is also given names, which stay as they are. */
export function languageName(code: string): string {
  if (!isLanguageCode(code)) return code;
  return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
}

/** A made-up token per word, in Whisper's range. */
export const tokensOf = (text: string): number[] => [
  50_364,
  ...Array.from({ length: countWords(text) }, (_, index) => 440 + index),
];

export const durationUsage = (seconds: number): object => ({
  type: "duration",
  seconds: Math.ceil(seconds),
});

/** The gpt models count tokens: ten for a second of sound. */
export function tokenUsage({ seconds, text }: Transcript): object {
  const audioTokens = Math.ceil(seconds * 10);
  const outputTokens = countWords(text);
  return {
    type: "tokens",
    input_tokens: audioTokens,
    input_token_details: { text_tokens: 0, audio_tokens: audioTokens },
    output_tokens: outputTokens,
    total_tokens: audioTokens + outputTokens,
  };
}

function openaiSegment(segment: Segment, id: number): object {
  return {
    id,
    seek: Math.floor(segment.start / 30) * 3000,
    start: segment.start,
    end: segment.end,
    text: segment.text === "" ? "" : ` ${segment.text}`,
    tokens: tokensOf(segment.text),
    temperature: 0,
    avg_logprob: segment.avgLogprob,
    compression_ratio: 1.236,
    no_speech_prob: segment.noSpeechProb,
  };
}

/** Asked for words alone, OpenAI leaves the segments out. */
export function verbose(transcript: Transcript, ask: Ask, language: string): object {
  const { seconds, text, segments } = transcript;
  return {
    task: "transcribe",
    language,
    duration: seconds,
    text,
    ...(ask.hasSegments && { segments: segments.map(openaiSegment) }),
    ...(ask.hasWords && { words: segments.flatMap(({ words }) => words) }),
  };
}

/** The formats that are plain text; undefined for the others. */
export function plain(
  transcript: Transcript,
  format: string,
  types: Readonly<Record<string, string>> = {},
): Answer | undefined {
  const body = plainText(transcript, format);
  if (body === undefined) return undefined;
  return {
    status: 200,
    headers: { "content-type": types[format] ?? "text/plain; charset=utf-8" },
    body,
  };
}

function plainText({ text, segments }: Transcript, format: string): string | undefined {
  switch (format) {
    case "text":
      return `${text}\n`;
    case "srt":
      return srt(segments);
    case "vtt":
      return vtt(segments);
    default:
      return undefined;
  }
}
