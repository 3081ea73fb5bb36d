import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { containerOf, headOf, isSilent, readFlac, readWav } from "./audio.ts";
import type { Container } from "./audio.ts";
import type { UploadedFile } from "./upload.ts";

export interface Sound {
  container: Container;
  /** For Ogg: which servers read it depends on what is inside. */
  isVorbis: boolean;
  seconds: number;
  isSilent: boolean;
}

/** 32 kbit/s, what speech is commonly compressed to. */
const bytesPerSecond = 4000;

/** Undefined when it cannot be decoded. */
export async function measure(file: UploadedFile): Promise<Sound | undefined> {
  const head = headOf(file);
  const container = containerOf(head);
  if (!container) return undefined;
  const sound = { container, isVorbis: head.includes("\u0001vorbis"), isSilent: false };
  if (container === "wav") {
    const wav = readWav(head, file.sizeBytes);
    return wav && { ...sound, seconds: wav.seconds, isSilent: isSilent(file, wav) };
  }
  const told = container === "flac" ? readFlac(head) : await probe(file);
  if (told === undefined) return undefined;
  return { ...sound, seconds: told > 0 ? told : file.sizeBytes / bytesPerSecond };
}

/** 0 when ffprobe is not installed or finds no length, undefined when it cannot read the file. */
async function probe(file: UploadedFile): Promise<number | undefined> {
  const dir = await mkdtemp(join(tmpdir(), "sandbox-speech-"));
  try {
    // Not through a pipe: an mp4 may keep its index at the end.
    const path = join(dir, "audio");
    await writeFile(path, file.chunks);
    const shown = ["-show_entries", "format=duration", "-of", "default=nw=1:nk=1"];
    const child = spawn("ffprobe", ["-v", "error", ...shown, path], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
    return code === 0 ? Number.parseFloat(output) || 0 : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
