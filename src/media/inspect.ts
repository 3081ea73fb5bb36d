import { open } from "node:fs/promises";
import { fileTypeFromFile } from "file-type";
import { ALL_FORMATS, FilePathSource, Input } from "mediabunny";
import sharp from "sharp";

/** What the bytes themselves say. */
export interface Facts {
  contentType: string;
  extension: string;
  width: number | null;
  height: number | null;
  durationMs: number | null;
}

const headBytes = 4_096;
// Scanning a longer file for its end would keep the process from its other requests.
const scannedBytes = 64 * 1_024 * 1_024;

const markup: [pattern: RegExp, contentType: string, extension: string][] = [
  [/^<svg[\s>]/i, "image/svg+xml", "svg"],
  [
    /^<(?:!doctype html|html|head|body|script|iframe|style|title|h1|div|a|p)\b/i,
    "text/html",
    "html",
  ],
];
// What may stand before the first element.
const prolog = /^(?:\s|<\?[^>]*\?>|<!--[\s\S]*?-->|<!doctype svg[^>]*>)+/i;

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function isText(head: Buffer): boolean {
  if (head.includes(0)) return false;
  try {
    // The last character may be cut.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

async function typeOf(path: string): Promise<Pick<Facts, "contentType" | "extension">> {
  const head = await readHead(path);
  const text = head
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .replace(prolog, "");
  const marked = markup.find(([pattern]) => pattern.test(text));
  if (marked) return { contentType: marked[1], extension: marked[2] };
  const known = await fileTypeFromFile(path);
  if (known) return { contentType: known.mime, extension: known.ext };
  if (head.length > 0 && isText(head)) return { contentType: "text/plain", extension: "txt" };
  return { contentType: "application/octet-stream", extension: "bin" };
}

async function measureImage(path: string): Promise<Pick<Facts, "width" | "height">> {
  // Only the header is read: the number of pixels costs nothing here.
  const { autoOrient } = await sharp(path, { limitInputPixels: false }).metadata();
  return { width: autoOrient.width, height: autoOrient.height };
}

async function measureRecording(
  path: string,
  sizeBytes: number,
): Promise<Pick<Facts, "width" | "height" | "durationMs">> {
  using input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  const video = await input.getPrimaryVideoTrack();
  const seconds =
    (await input.getDurationFromMetadata()) ??
    (sizeBytes <= scannedBytes ? await input.computeDuration() : null);
  return {
    width: video ? await video.getDisplayWidth() : null,
    height: video ? await video.getDisplayHeight() : null,
    durationMs: seconds !== null && Number.isFinite(seconds) ? Math.round(seconds * 1_000) : null,
  };
}

/** Never fails for what is in the file: what can't be told about it stays null. */
export async function inspect(path: string, sizeBytes: number): Promise<Facts> {
  const facts: Facts = { ...(await typeOf(path)), width: null, height: null, durationMs: null };
  try {
    // A drawing is a program of sorts: nobody runs it here.
    if (/^image\/(?!svg)/.test(facts.contentType))
      return { ...facts, ...(await measureImage(path)) };
    if (/^(?:audio|video)\//.test(facts.contentType))
      return { ...facts, ...(await measureRecording(path, sizeBytes)) };
  } catch {
    // Broken, or of a kind that nobody here can read: it is stored as what it claims to be.
  }
  return facts;
}
