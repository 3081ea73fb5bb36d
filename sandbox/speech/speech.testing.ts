import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TestContext } from "node:test";
import type { Sandbox } from "../app.ts";
import type { Entry } from "../journal.ts";
import { postJson, testSandbox } from "../testing.ts";
import { speech } from "./speech.ts";

export const key = "sandbox-speech-key";
export const transcriptions = "/v1/audio/transcriptions";
export const sentence = "The quick brown fox jumps over the lazy dog.";

export const start = (t: TestContext): Promise<Sandbox> => testSandbox(t, [speech]);

export const sha256 = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

interface WavOptions {
  seconds: number;
  bytesPerSecond?: number;
  fill?: number;
  /** What the header says; the true length unless told. */
  dataBytes?: number;
}

export function wav({
  seconds,
  bytesPerSecond = 1000,
  fill = 0x11,
  dataBytes,
}: WavOptions): Buffer {
  const sound = Buffer.alloc(Math.round(seconds * bytesPerSecond), fill);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + sound.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(bytesPerSecond / 2, 24);
  header.writeUInt32LE(bytesPerSecond, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(dataBytes ?? sound.length, 40);
  return Buffer.concat([header, sound]);
}

export const speechWav = wav({ seconds: 8 });
export const silentWav = wav({ seconds: 2, fill: 0 });

export interface Ask {
  file?: Uint8Array<ArrayBuffer> | Buffer | null;
  name?: string;
  path?: string;
  key?: string | null;
  /** Undefined leaves a field out, a list repeats it. */
  fields?: Record<string, string | string[] | undefined>;
  signal?: AbortSignal;
}

/** One call with `whisper-1` and eight seconds of speech, except for what is given. */
export function transcribe(sandbox: Sandbox, ask: Ask = {}): Promise<Response> {
  const { file = speechWav, name = "audio.wav", path = transcriptions, fields = {} } = ask;
  const form = new FormData();
  if (file) form.append("file", new Blob([new Uint8Array(file)]), name);
  for (const [field, values] of Object.entries({ model: "whisper-1", ...fields }))
    for (const value of [values].flat()) if (value !== undefined) form.append(field, value);
  const given = ask.key === undefined ? key : ask.key;
  return fetch(`${sandbox.url}/speech${path}`, {
    method: "POST",
    ...(given !== null && { headers: { authorization: `Bearer ${given}` } }),
    body: form,
    ...(ask.signal && { signal: ask.signal }),
  });
}

/** The JSON of an answer that must have this status. */
export async function body<T>(answer: Response | Promise<Response>, status = 200): Promise<T> {
  const response = await answer;
  const text = await response.text();
  assert.equal(response.status, status, text);
  return JSON.parse(text) as T;
}

export interface VerboseSegment {
  id: number;
  seek?: number;
  start?: number;
  end?: number;
  text: string;
  tokens: number[];
  temperature: number;
  avg_logprob: number;
  compression_ratio?: number;
  no_speech_prob: number;
  words?: { word: string; start?: number; end?: number; t_dtw: number; probability: number }[];
}

export interface Verbose {
  task: string;
  language: string;
  duration: number;
  text: string;
  segments?: VerboseSegment[];
  words?: { word: string; start: number; end: number }[];
  usage?: { type: string; seconds: number };
}

export const verbosely = { response_format: "verbose_json" };

export async function set(sandbox: Sandbox, settings: object): Promise<void> {
  const response = await postJson(`${sandbox.url}/speech/_control`, settings);
  assert.equal(response.status, 200, await response.clone().text());
}

export function calls(sandbox: Sandbox, accepted?: boolean): Entry[] {
  return sandbox.journal.find({ operation: "speech.transcribe", accepted }).entries;
}

export type RawPart = [head: string, bytes: Uint8Array | string];

/** A form written byte for byte. */
export function rawForm(boundary: string, parts: readonly RawPart[]): Buffer {
  const pieces = parts.flatMap(([head, bytes]) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(bytes),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

export function sendRaw(
  sandbox: Sandbox,
  boundary: string,
  form: Buffer | ReadableStream,
): Promise<Response> {
  return fetch(`${sandbox.url}/speech${transcriptions}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": `multipart/form-data; boundary=${boundary}`,
    },
    body: form instanceof Buffer ? new Uint8Array(form) : form,
    duplex: "half",
  });
}

const modelNames = {
  groq: "whisper-large-v3",
  whispercpp: undefined,
  speaches: "Systran/faster-whisper-small",
};
type Imitator = keyof typeof modelNames;

export interface Called {
  sandbox: Sandbox;
  ask: (ask?: Ask) => Promise<Response>;
}

/** The server in this personality, called with a model that it has. */
export async function startAs(t: TestContext, personality: Imitator): Promise<Called> {
  const sandbox = await start(t);
  await set(sandbox, { personality });
  const ask = ({ fields, ...rest }: Ask = {}) =>
    transcribe(sandbox, { ...rest, fields: { model: modelNames[personality], ...fields } });
  return { sandbox, ask };
}

export const formWithout = (name: "file" | "model"): Buffer =>
  rawForm(
    "edge",
    name === "file" ? [['name="model"', "m"]] : [['name="file"; filename="a.wav"', speechWav]],
  );

/** Over OpenAI's cap. */
export const hugeForm = (): Buffer =>
  rawForm("edge", [
    ['name="model"', "whisper-large-v3"],
    ['name="file"; filename="long.wav"', wav({ seconds: 27_000, fill: 1 })],
  ]);

/** What a language is called in the reply to German. */
export async function languageOf({ sandbox, ask }: Called, fields: Record<string, string> = {}) {
  const known = { text: "Guten Tag.", language: "de" };
  await set(sandbox, { transcripts: { [sha256(speechWav)]: known } });
  return (await body<Verbose>(ask({ fields: { ...verbosely, ...fields } }))).language;
}
