import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { mediaStage } from "../helpers/media.ts";
import { startS3 } from "../helpers/s3.ts";

const s3 = await startS3();
after(s3.stop);
const stages = { files: await mediaStage(), S3: await mediaStage(s3.settings) };
const descriptors = (): number => readdirSync("/proc/self/fd").length;

// A file that nobody closes is closed by the garbage collector at last, which warns.
const forgotten: string[] = [];
process.on("warning", ({ message }) => {
  if (message.includes("garbage collection")) forgotten.push(message);
});

/** Asks for a file, once or several times in one breath, reads a little and hangs up. */
async function hangUp(url: string, id: string, requests: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(`GET /media/${id} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`.repeat(requests));
  await once(socket, "data");
  socket.destroy();
}

for (const [store, { url, put }] of Object.entries(stages))
  for (const requests of [1, 3])
    test(`clients that hang up on ${requests} requests at once leave nothing open, on ${store}`, async () => {
      const id = await put(randomBytes(20_000_000));
      const before = descriptors();
      for (let round = 0; round < 10; round++)
        await Promise.all(Array.from({ length: 8 }, async () => await hangUp(url, id, requests)));
      const deadline = performance.now() + 5_000;
      while (descriptors() > before + 4 && performance.now() < deadline) await pause(20);
      assert.ok(descriptors() <= before + 4, `${descriptors()} descriptors, ${before} before`);
      assert.deepEqual(forgotten, []);
      assert.equal((await fetch(`${url}/media/${id}`)).status, 200);
    });
