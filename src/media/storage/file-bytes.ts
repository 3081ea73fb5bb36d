import type { FileHandle } from "node:fs/promises";
import type { ByteRange, Client } from "./storage.ts";

// Reading ahead into two buffers that are used again and again: a stream makes a new one per chunk, and the kernel
// has to find it fresh memory each time (bench/RESULTS.md, media).
const chunkBytes = 512 * 1_024;
const kept = 32;
const spare: Buffer[] = [];

const take = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
function giveBack(buffer: Buffer): void {
  if (spare.length < kept) spare.push(buffer);
}

/** Done when the kernel has the bytes, so that the buffer may be used again. A response that lost its client never says so. */
async function write({ sink, gone }: Client, bytes: Buffer): Promise<void> {
  gone.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const giveUp = (): void => reject(gone.reason as Error);
    gone.addEventListener("abort", giveUp, { once: true });
    sink.write(bytes, (error) => {
      gone.removeEventListener("abort", giveUp);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Writes a part of a file to a client. Fails when the client is gone before its end. */
export async function sendFile(
  handle: FileHandle,
  range: ByteRange,
  client: Client,
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
      writing = write(client, buffer.subarray(0, bytesRead));
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
