import type { Answer } from "../answer.ts";
import type { Container } from "./audio.ts";
import type { Settings } from "./settings.ts";
import type { Transcript } from "./transcript.ts";

export const bodyCapBytes = 26_214_400;

/** Why a call is refused. What is said about it, and with which status, is each server's own. */
export type Problem =
  | { kind: "bad_key"; key: string }
  | { kind: "too_large"; readBytes: number }
  | { kind: "malformed"; message: string }
  | { kind: "missing"; field: "file" | "model" }
  | { kind: "unknown_model"; model: string }
  | { kind: "bad_value"; field: string; value: string; allowed: readonly string[] }
  | { kind: "unsupported_format"; format: string; model: string; allowed: readonly string[] }
  | { kind: "bad_language"; language: string }
  | { kind: "needs_chunking" }
  | { kind: "wrong_extension" }
  | { kind: "empty_file" }
  | { kind: "undecodable" }
  | { kind: "too_short"; seconds: number; model: Model }
  | { kind: "too_long"; seconds: number; model: Model }
  | { kind: "no_such_path"; method: string; path: string };

export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.kind);
    this.problem = problem;
  }
}

export interface Model {
  name: string;
  formats: readonly string[];
  minSeconds: number;
  maxSeconds: number;
}

/** What the caller wants, read from the form and checked. */
export interface Ask {
  model: Model;
  format: string;
  language: string | undefined;
  hasSegments: boolean;
  hasWords: boolean;
  hasLogprobs: boolean;
  hasChunking: boolean;
  isStreaming: boolean;
  /** whisper.cpp's `no_timestamps` and `no_language_probabilities`. */
  hasTimes: boolean;
  hasProbabilities: boolean;
  requestId: string;
}

/** One of the servers that speak this protocol, with its own habits. */
export interface Personality {
  capBytes: number;
  asksForKey: boolean;
  /** A global lock in the server. */
  isOneAtATime: boolean;
  /** Voice detection first: silence has no segments at all. */
  hasVoiceDetection: boolean;
  requiresModel: boolean;
  /** Refuses by the file's name before it looks inside. */
  checksExtension: boolean;
  /** An unknown format is answered as json. */
  isLenient: boolean;
  decodes(container: Container, isVorbis: boolean): boolean;
  model(name: string, settings: Settings): Model | undefined;
  refuse(problem: Problem): Answer;
  answer(transcript: Transcript, ask: Ask): Answer;
  /** On every answer of the transcription route. */
  headers(requestId: string): Record<string, string>;
}

export const whisperFormats = ["json", "text", "srt", "verbose_json", "vtt"] as const;
