import type { Answer } from "../answer.ts";
import type { Ask, Personality, Problem } from "./personality.ts";
import { whisperFormats } from "./personality.ts";
import { languageName, plain, tokensOf } from "./shapes.ts";
import type { Segment, Transcript } from "./transcript.ts";

/** `error` is a string, and there is one for few things: the server looks at little before it decodes. */
function refuse(problem: Problem): Answer {
  if (problem.kind === "no_such_path")
    return { status: 404, body: `File Not Found (${problem.path})` };
  const isMissing = problem.kind === "missing" || problem.kind === "malformed";
  const error = isMissing ? "no 'file' field in the request" : "failed to read audio data";
  return { status: 400, body: { error } };
}

const types = {
  text: "text/html; charset=utf-8",
  srt: "application/x-subrip",
  vtt: "text/vtt",
};

/** The words are inside the segments; there is no `seek` and no `compression_ratio`. */
function segmentOf(segment: Segment, id: number, hasTimes: boolean): object {
  const { start, end, text } = segment;
  const words = segment.words.map(({ word, start, end }) => ({
    word: ` ${word}`,
    ...(hasTimes && { start, end }),
    t_dtw: -1,
    probability: 0.95,
  }));
  return {
    id,
    text: text === "" ? "" : ` ${text}`,
    ...(hasTimes && { start, end }),
    tokens: tokensOf(text),
    words,
    temperature: 0,
    avg_logprob: segment.avgLogprob,
    no_speech_prob: segment.noSpeechProb,
  };
}

/** Without `language` it takes the sound for English; `auto` makes it listen first. */
function answer(transcript: Transcript, ask: Ask): Answer {
  const given = plain(transcript, ask.format, types);
  if (given) return given;
  const { text, seconds, segments } = transcript;
  if (ask.format !== "verbose_json") return { status: 200, body: { text } };
  const { language: asked = "en" } = ask;
  const spoken = asked === "auto" ? transcript.language : asked;
  const detected = {
    detected_language: languageName(transcript.language).toLowerCase(),
    detected_language_probability: 0.98,
    language_probabilities: { [transcript.language]: 0.98 },
  };
  const body = {
    task: "transcribe",
    language: languageName(spoken).toLowerCase(),
    duration: seconds,
    text,
    segments: segments.map((segment, id) => segmentOf(segment, id, ask.hasTimes)),
    ...(ask.hasProbabilities && detected),
  };
  return { status: 200, body };
}

export const whispercpp: Personality = {
  capBytes: Infinity,
  asksForKey: false,
  isOneAtATime: true,
  hasVoiceDetection: false,
  requiresModel: false,
  checksExtension: false,
  isLenient: true,
  /** Anything else needs ffmpeg on the server. */
  decodes: (container, isVorbis) =>
    container === "ogg" ? isVorbis : ["wav", "mp3", "flac"].includes(container),
  model: (name) => ({ name, formats: whisperFormats, minSeconds: 0, maxSeconds: Infinity }),
  refuse,
  answer,
  headers: () => ({}),
};
