import type { FileHandle } from "node:fs/promises";
import type { Writable } from "node:stream";
import type { ByteRange } from "./storage.ts";

// Reading ahead into two buffers that are used again and again: a stream makes a new one per chunk, and the kernel
// has to find it fresh memory each time (bench/RESULTS.md, media).
const chunkBytes = 512 * 1_024;
const kept = 32;
const spare: Buffer[] = [];

const take = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
function giveBack(buffer: Buffer): void {
  if (spare.length < kept) spare.push(buffer);
}

/** Done when the kernel has the bytes, so that the buffer may be used again. */
async function write(sink: Writable, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    sink.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes a part of a file to a sink. Fails when the sink is closed before its end. */
export async function sendFile(
  handle: FileHandle,
  range: ByteRange,
  sink: Writable,
): Promise<void> {
  const buffers = [take(), take()] as const;
  let writing: Promise<void> = Promise.resolve();
  try {
    for (let position = range.start, turn = 0; position <= range.end; turn ^= 1) {
      const buffer = buffers[turn === 0 ? 0 : 1];
      const length = Math.min(chunkBytes, range.end - position + 1);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      if (bytesRead === 0) throw new Error("the file is shorter than its record says");
      await writing;
      writing = write(sink, buffer.subarray(0, bytesRead));
      // Awaited in the next round; a failure in between is not unheard of.
      writing.catch(() => undefined);
      position += bytesRead;
    }
    await writing;
  } finally {
    await writing.catch(() => undefined);
    for (const buffer of buffers) giveBack(buffer);
  }
}
