import { mkdir, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { decode, samplesPerSecond } from "./decode.ts";
import { AudioUnreadable, startFfmpeg } from "./ffmpeg.ts";

export interface WorkOptions {
  signal?: AbortSignal | undefined;
}

export interface Piece {
  path: string;
  /** Where it begins in the whole. */
  startSeconds: number;
}

/** Enough for speech: 25 MB hold more than two hours. */
const defaultKbps = 24;
const framesPerSecond = 10;

const opus = (kbps: number): string[] =>
  `-ac 1 -ar ${samplesPerSecond} -c:a libopus -application voip -vbr constrained -b:a ${kbps}k`.split(
    " ",
  );

async function encode(path: string, output: string[], signal?: AbortSignal): Promise<void> {
  const { child, ended } = await startFfmpeg(path, ["-y", ...output], signal);
  child.stdout.resume();
  await ended;
}

/** Writes the sound as mono 16 kHz Opus in Ogg: small, and what every speech provider takes. */
export async function compress(
  path: string,
  target: { path: string; kbps?: number },
  { signal }: WorkOptions = {},
): Promise<void> {
  const { kbps = defaultKbps } = target;
  try {
    await encode(path, [...opus(kbps), "-f", "ogg", `file:${resolve(target.path)}`], signal);
  } catch (error) {
    await rm(target.path, { force: true });
    throw error;
  }
}

/** How loud each tenth of a second is. */
async function loudness(path: string, signal?: AbortSignal): Promise<number[]> {
  const frame = samplesPerSecond / framesPerSecond;
  const frames: number[] = [];
  let [energy, count] = [0, 0];
  for await (const samples of decode(path, { signal })) {
    for (const sample of samples) {
      energy += sample * sample;
      if (++count % frame > 0) continue;
      frames.push(energy);
      energy = 0;
    }
  }
  if (count % frame > 0) frames.push(energy);
  return frames;
}

/** Cuts in the middle of the quietest half second of the last third before each piece would get too long. */
export function findCuts(frames: readonly number[], maxSeconds: number): number[] {
  // A piece ends with a whole packet of 20 ms.
  const longest = Math.floor(maxSeconds * framesPerSecond) - 1;
  const cuts: number[] = [];
  for (let start = 0; frames.length - start > longest;) {
    let [quietest, best] = [Number.POSITIVE_INFINITY, start + longest];
    for (let at = start + longest; at > start + (longest * 2) / 3; at--) {
      const around = frames
        .slice(Math.max(start, at - 3), at + 2)
        .reduce((sum, each) => sum + each, 0);
      if (around < quietest) [quietest, best] = [around, at];
    }
    cuts.push(best / framesPerSecond);
    start = best;
  }
  return cuts;
}

/** Writes the sound into files of at most so many seconds, cut at silences where there are any. */
export async function split(
  path: string,
  maxSeconds: number,
  target: { dir: string; kbps?: number },
  { signal }: WorkOptions = {},
): Promise<Piece[]> {
  const { dir, kbps = defaultKbps } = target;
  const frames = await loudness(path, signal);
  if (frames.length === 0) throw new AudioUnreadable("it has no sound");
  const cuts = findCuts(frames, maxSeconds);
  await mkdir(dir, { recursive: true });
  // Left to itself, the segmenter would go on cutting every two seconds.
  const times = ["-segment_times", [...cuts, 1e7].join(",")];
  const pattern = `file:${resolve(dir).replaceAll("%", "%%")}/piece-%05d.ogg`;
  const pieces = ["-f", "segment", "-segment_format", "ogg", "-reset_timestamps", "1", ...times];
  await encode(path, [...opus(kbps), ...pieces, pattern], signal);
  const names = (await readdir(dir)).filter((name) => name.startsWith("piece-")).toSorted();
  return names.map((name, at) => ({ path: join(dir, name), startSeconds: cuts[at - 1] ?? 0 }));
}
