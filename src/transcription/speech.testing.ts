import { execFile, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { promisify } from "node:util";
import { ffmpegPath } from "./ffmpeg.ts";

const folder = "/usr/share/pocketsphinx/test/data/librivox";

/** A reason to skip, where there are no recordings of people reading. */
export const recordingsAreMissing: string | false =
  !existsSync(folder) && "needs recordings (apt-get install pocketsphinx-testdata)";

/** A reason to skip, where there are no synthetic voices. */
export const voicesAreMissing: string | false =
  ["flite", "espeak-ng"].some((name) => spawnSync("which", [name]).status !== 0) &&
  "needs synthetic voices (apt-get install flite espeak-ng)";

export interface Recording {
  path: string;
  text: string;
}

/** Sentences of a novel, read for LibriVox, and what is said in each. */
export function recordings(): Recording[] {
  const lines = readFileSync(join(folder, "transcription"), "utf8").trim().split("\n");
  return lines.map((line) => {
    const [, text = "", name = ""] = /^<s> (.*) <\/s> \((.*)\)$/.exec(line) ?? [];
    return { path: join(folder, `${name}.wav`), text };
  });
}

export const run = promisify(execFile);

/** Runs ffmpeg with all it can do, to make files. */
export async function ffmpeg(...args: string[]): Promise<void> {
  await run(await ffmpegPath(), ["-nostdin", "-y", "-v", "error", ...args]);
}

/** A folder that goes away with the test file's end. */
export async function temporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "herald-speech-"));
  after(async () => await rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A mono 16 kHz file, made of what is to be heard at each second. */
export async function writeWav(
  path: string,
  seconds: number,
  soundAt: (second: number) => number,
): Promise<string> {
  const samples = Int16Array.from(
    { length: seconds * 16_000 },
    (_, at) => soundAt(at / 16_000) * 32_767,
  );
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  [1, 1].forEach((value, at) => header.writeUInt16LE(value, 20 + 2 * at));
  header.writeUInt32LE(16_000, 24);
  header.writeUInt32LE(32_000, 28);
  [2, 16].forEach((value, at) => header.writeUInt16LE(value, 32 + 2 * at));
  header.write("data", 36);
  header.writeUInt32LE(samples.byteLength, 40);
  await writeFile(path, Buffer.concat([header, Buffer.from(samples.buffer)]));
  return path;
}

export const tone = (second: number): number => 0.4 * Math.sin(2 * Math.PI * 440 * second);

/** The processes whose command line has all of this. */
export function processesWith(...parts: string[]): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
        return parts.every((part) => command.includes(part));
      } catch {
        return false; // It ended in the meantime.
      }
    })
    .map(Number);
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll(/\bmr\./g, "mister")
    .match(/[\p{L}\p{N}']+/gu) ?? [];

/** How many words must be changed, added or left out to get what was said from what was heard. */
export function wordErrors(said: string, heard: string): { errors: number; words: number } {
  const [expected, actual] = [wordsOf(said), wordsOf(heard)];
  let row = Array.from({ length: actual.length + 1 }, (_, at) => at);
  for (const [index, word] of expected.entries()) {
    const next = [index + 1];
    for (const [at, other] of actual.entries()) {
      const [left = 0, above = 0, corner = 0] = [next[at], row[at + 1], row[at]];
      next.push(Math.min(left + 1, above + 1, corner + (word === other ? 0 : 1)));
    }
    row = next;
  }
  return { errors: row.at(-1) ?? 0, words: expected.length };
}
