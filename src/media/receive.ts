import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Transform } from "node:stream";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** The bytes are more than may be taken. */
export class TooLarge extends Error {
  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
    this.name = "TooLarge";
  }
}

export interface Received {
  path: string;
  sizeBytes: number;
  /** SHA-256, in hex. */
  checksum: string;
}

/** Writes a stream to a file, through a hash and a cap. On failure nothing is left. */
export async function receive(source: Readable, path: string, maxBytes: number): Promise<Received> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) return done(new TooLarge(maxBytes));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await mkdir(dirname(path), { recursive: true });
    await pipeline(source, meter, createWriteStream(path, { flags: "wx" }));
    return { path, sizeBytes, checksum: hash.digest("hex") };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
