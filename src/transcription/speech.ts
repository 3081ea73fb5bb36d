import type { LyricsHints } from "./lyrics.ts";
import type { Transcript } from "./transcript.ts";

export interface SpeechRequest {
  path: string;
  contentType: string;
  extension: string;
  /** Of the sound, as far as it is known. */
  seconds: number;
  language?: string | undefined;
  model?: string | undefined;
  signal: AbortSignal;
}

export interface Heard extends Transcript {
  /** What the provider says of how sure it is. */
  hints?: LyricsHints;
}

/** What turns speech into text: a program of this machine, or somebody's service. */
export interface Speech {
  /** Those that may be asked for. Null: the provider knows. */
  models: readonly string[] | null;
  languages: readonly string[] | null;
  transcribe(request: SpeechRequest): Promise<Heard>;
  close(): Promise<void>;
}
