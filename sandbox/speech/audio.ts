import type { UploadedFile } from "./upload.ts";

export type Container = "wav" | "flac" | "mp3" | "mp4" | "ogg" | "webm";

/** What the extension promises, in the order of OpenAI's message. `.opus` is refused there. */
export const extensions: ReadonlyMap<string, Container> = new Map([
  ["flac", "flac"],
  ["m4a", "mp4"],
  ["mp3", "mp3"],
  ["mp4", "mp4"],
  ["mpeg", "mp3"],
  ["mpga", "mp3"],
  ["oga", "ogg"],
  ["ogg", "ogg"],
  ["wav", "wav"],
  ["webm", "webm"],
]);

export const extensionOf = (name: string): string =>
  /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";

/** Undefined: no audio that anybody here can decode. */
export function containerOf(head: Buffer): Container | undefined {
  const text = (from: number, to: number): string => head.toString("latin1", from, to);
  if (text(0, 4) === "RIFF" && text(8, 12) === "WAVE") return "wav";
  if (text(0, 4) === "fLaC") return "flac";
  if (text(0, 4) === "OggS") return "ogg";
  if (text(4, 8) === "ftyp") return "mp4";
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3) return "webm";
  if (text(0, 3) === "ID3") return "mp3";
  if (head.length >= 2 && (head.readUInt16BE(0) & 0xffe0) === 0xffe0) return "mp3";
  return undefined;
}

/** Enough for the magic bytes and for a header with some text before the sound. */
const headBytes = 64 * 1024;

export function headOf({ chunks }: UploadedFile): Buffer {
  const pieces: Buffer[] = [];
  let left = headBytes;
  for (const chunk of chunks) {
    if (left <= 0) break;
    pieces.push(chunk.subarray(0, left));
    left -= chunk.length;
  }
  return Buffer.concat(pieces);
}

export interface Wav {
  seconds: number;
  dataStart: number;
  dataEnd: number;
}

/** Undefined when there is no sound in it: no format, or no data in sight. */
export function readWav(head: Buffer, sizeBytes: number): Wav | undefined {
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= head.length;) {
    const id = head.toString("latin1", at, at + 4);
    const length = head.readUInt32LE(at + 4);
    const start = at + 8;
    if (id === "fmt " && start + 16 <= head.length) bytesPerSecond = head.readUInt32LE(start + 8);
    if (id === "data") {
      if (bytesPerSecond === 0) return undefined;
      // A WAV written to a pipe does not know its length, and a cut one has less than it says.
      const isKnown = length !== 0xffff_ffff && (length > 0 || start === sizeBytes);
      const dataEnd = isKnown ? Math.min(start + length, sizeBytes) : sizeBytes;
      return { seconds: (dataEnd - start) / bytesPerSecond, dataStart: start, dataEnd };
    }
    at = start + length + (length % 2);
  }
  return undefined;
}

/** The length that STREAMINFO gives; 0 when it does not say, undefined when there is no STREAMINFO. */
export function readFlac(head: Buffer): number | undefined {
  if (head.length < 42 || (head.readUInt8(4) & 0x7f) !== 0) return undefined;
  const packed = head.readBigUInt64BE(18);
  const sampleRate = Number(packed >> 44n);
  const samples = Number(packed & 0xf_ffff_ffffn);
  return sampleRate === 0 ? undefined : samples / sampleRate;
}

/** Digital silence: nothing but zeros in the sound. */
export function isSilent({ chunks }: UploadedFile, { dataStart, dataEnd }: Wav): boolean {
  let at = 0;
  for (const chunk of chunks) {
    const from = Math.max(0, dataStart - at);
    const sound = chunk.subarray(from, Math.max(from, dataEnd - at));
    if (!sound.equals(Buffer.alloc(sound.length))) return false;
    at += chunk.length;
  }
  return true;
}
