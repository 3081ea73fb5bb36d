import { z } from "zod";
import type { Answer } from "../outbound/index.ts";
import { SpeechFailed } from "./failures.ts";
import type { Segment } from "./transcript.ts";

const number = z.coerce.number().catch(0);

const segment = z.object({
  start: number,
  end: number,
  text: z.string().catch(""),
  avg_logprob: number.optional(),
  no_speech_prob: number.optional(),
  compression_ratio: number.optional(),
});

const transcript = z.object({
  text: z.string(),
  language: z.string().optional(),
  duration: number.optional(),
  segments: z.array(segment).optional(),
});

const failure = z.looseObject({
  error: z
    .union([
      z.string(),
      z.looseObject({ message: z.string().optional(), code: z.string().nullish().catch(null) }),
    ])
    .optional(),
  detail: z.union([z.string(), z.array(z.looseObject({ msg: z.string().optional() }))]).optional(),
});

export interface HeardPiece {
  text: string;
  segments: Segment[];
  language: string | undefined;
  seconds: number | undefined;
  noSpeech: number | undefined;
  compressionRatio: number | undefined;
}

// Servers tell the language by its English name or by its code.
const english = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
const codes = new Map(
  letters
    .flatMap((first) => letters.map((second) => first + second))
    .flatMap((code) => {
      const name = english.of(code)?.toLowerCase();
      return name === undefined ? [] : [[name, code] as const];
    }),
);
const codeOf = (language: string): string =>
  codes.get(language.toLowerCase()) ?? language.toLowerCase().slice(0, 2);

/** Silence, by what the model says of itself; such models write something all the same. */
const isSilent = ({ no_speech_prob: noSpeech, avg_logprob: logprob }: z.output<typeof segment>) =>
  noSpeech !== undefined && noSpeech > 0.6 && logprob !== undefined && logprob < -1;

function clean(text: string): string {
  return text.replaceAll("\0", "").trim();
}

export function readTranscript(body: string): HeardPiece {
  const parsed = transcript.safeParse(parseJson(body));
  if (!parsed.success) throw new SpeechFailed("The speech provider's answer can't be read");
  const { text, language, duration, segments = [] } = parsed.data;
  const spoken = segments.filter((each) => !isSilent(each));
  const highest = (values: (number | undefined)[]): number | undefined => {
    const given = values.filter((value) => value !== undefined);
    return given.length === 0 ? undefined : Math.max(...given);
  };
  return {
    text: segments.length > 0 && spoken.length === 0 ? "" : clean(text),
    segments: spoken.map(({ start, end, text: words }) => ({ start, end, text: clean(words) })),
    language: language === undefined ? undefined : codeOf(language),
    seconds: duration,
    noSpeech: highest(segments.map(({ no_speech_prob: value }) => value)),
    compressionRatio: highest(segments.map(({ compression_ratio: value }) => value)),
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

export interface Refusal {
  message: string;
  code: string;
}

/** The four shapes in which servers of this kind say no. */
export function readRefusal({ body }: Answer): Refusal {
  const { error, detail } = failure.safeParse(parseJson(body)).data ?? {};
  if (typeof error === "object") return { message: error.message ?? "", code: error.code ?? "" };
  if (typeof error === "string") return { message: error, code: "" };
  if (typeof detail === "string") return { message: detail, code: "" };
  if (detail) return { message: detail.map(({ msg = "" }) => msg).join("; "), code: "" };
  return { message: body.slice(0, 300), code: "" };
}
