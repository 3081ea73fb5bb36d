import { AudioUnreadable, startFfmpeg } from "./ffmpeg.ts";

export const samplesPerSecond = 16_000;
const sampleBytes = Float32Array.BYTES_PER_ELEMENT;

export interface DecodeOptions {
  signal?: AbortSignal | undefined;
  /** What comes later in the file is left out. */
  maxSeconds?: number | undefined;
}

/** Chunks of a pipe end anywhere; samples don't. */
async function* wholeSamples(chunks: AsyncIterable<Buffer>): AsyncGenerator<Float32Array> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const usable = bytes.length - (bytes.length % sampleBytes);
    rest = bytes.subarray(usable);
    // A copy, since samples must start at a multiple of four in memory and bytes of a pipe need not.
    if (usable > 0)
      yield new Float32Array(Uint8Array.prototype.slice.call(bytes, 0, usable).buffer);
  }
}

/** The samples of the first sound track, 16 kHz mono, as they come. A file without sound has none. */
export async function* decode(
  path: string,
  { signal, maxSeconds }: DecodeOptions = {},
): AsyncGenerator<Float32Array> {
  const limit = maxSeconds === undefined ? [] : ["-t", String(maxSeconds)];
  const format = ["-ac", "1", "-ar", String(samplesPerSecond), "-f", "f32le", "pipe:1"];
  const { child, ended } = await startFfmpeg(path, [...limit, ...format], signal);
  let isEmpty = true;
  try {
    for await (const samples of wholeSamples(child.stdout)) {
      isEmpty = false;
      yield samples;
    }
    const complaints = await ended;
    // It goes on behind what it can't read, to the end if need be, and calls that a success.
    if (isEmpty && complaints) throw new AudioUnreadable(complaints.split("\n")[0] ?? "");
  } catch (error) {
    const isSilent = error instanceof AudioUnreadable && error.hasNoSound;
    if (!isSilent) throw error;
  } finally {
    // Also when whoever reads has enough. It is over when the process is gone.
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
  }
}

/** How long the first sound track is, counted by its samples: headers and time stamps of a file may say anything. */
export async function probe(
  path: string,
  options: DecodeOptions = {},
): Promise<{ seconds: number; hasAudio: boolean }> {
  let count = 0;
  for await (const samples of decode(path, options)) count += samples.length;
  return { seconds: count / samplesPerSecond, hasAudio: count > 0 };
}
