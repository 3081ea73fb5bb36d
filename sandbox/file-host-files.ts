import { createCipheriv } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Answer } from "./answer.ts";

export interface StoredFile {
  name: string;
  type: string;
  bytes: Buffer;
}

/** Pictures and clips are 64 x 48, clips and tones last one second, and `script.svg` and `page.html` run a script. */
const types: Record<string, string> = {
  "picture.png": "image/png",
  "picture.jpg": "image/jpeg",
  "picture.gif": "image/gif",
  "picture.webp": "image/webp",
  "drawing.svg": "image/svg+xml",
  "script.svg": "image/svg+xml",
  "document.pdf": "application/pdf",
  "note.txt": "text/plain; charset=utf-8",
  "page.html": "text/html; charset=utf-8",
  "clip.mp4": "video/mp4",
  "clip.mov": "video/quicktime",
  "clip.webm": "video/webm",
  "tone.mp3": "audio/mpeg",
  "tone.wav": "audio/wav",
  "tone.ogg": "audio/ogg",
  "tone.flac": "audio/flac",
};

export const files: ReadonlyMap<string, StoredFile> = new Map(
  Object.entries(types).map(([name, type]) => {
    const bytes = readFileSync(new URL(`./files/${name}`, import.meta.url));
    return [name, { name, type, bytes }];
  }),
);

export const noSuchFile: Answer = { status: 404, body: { error: "no such file" } };

export const fileAnswer = (file: StoredFile, headers: Record<string, string> = {}): Answer => ({
  status: 200,
  headers: { "content-type": file.type, ...headers },
  body: file.bytes,
});

const blockBytes = 64 * 1024;

/** The same bytes at every call, and nowhere the same block twice: one lost, doubled or swapped shows in a hash. */
export function* patternBytes(sizeBytes: number): Generator<Buffer> {
  const keystream = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16));
  for (const zeros of zeroBytes(sizeBytes)) yield keystream.update(zeros);
}

export function* zeroBytes(sizeBytes: number): Generator<Buffer> {
  const zeros = Buffer.alloc(blockBytes);
  for (let left = sizeBytes; left > 0; left -= blockBytes)
    yield zeros.subarray(0, Math.min(left, blockBytes));
}

/** A whole number from a query. A misspelt one must not pass for the default. */
export function wholeNumber(query: URLSearchParams, name: string, fallback: number): number {
  const value = Number(query.get(name) ?? fallback);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new RangeError(`${name} must be a whole number`);
}
