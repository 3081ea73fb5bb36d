import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { files } from "../file-host-files.ts";
import { temporaryDir } from "../testing.ts";
import { measure } from "./measure.ts";
import type { Sound } from "./measure.ts";
import { sha256, silentWav, speechWav, wav } from "./speech.testing.ts";

/** In pieces of seven bytes, so that no header is in one of them. */
function listen(bytes: Buffer): Promise<Sound | undefined> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 7) chunks.push(bytes.subarray(at, at + 7));
  const facts = { name: "a", type: "audio/wav", sizeBytes: bytes.length, sha256: sha256(bytes) };
  return measure({ ...facts, chunks });
}

const stored = (name: string): Buffer => files.get(name)?.bytes ?? Buffer.alloc(0);

/** A PATH with this ffprobe alone, or with none. */
async function withFfprobe(t: TestContext, script?: string): Promise<void> {
  const dir = await temporaryDir(t);
  const path = process.env["PATH"] ?? "";
  t.after(() => {
    process.env["PATH"] = path;
  });
  if (script !== undefined) {
    await writeFile(join(dir, "ffprobe"), `#!/bin/sh\n${script}\n`);
    await chmod(join(dir, "ffprobe"), 0o755);
  }
  process.env["PATH"] = script === undefined ? dir : [dir, path].join(delimiter);
}

describe("the length of a sound", () => {
  test("is in a WAV's header", async () => {
    assert.equal((await listen(speechWav))?.seconds, 8);
    assert.equal((await listen(stored("tone.wav")))?.seconds, 1);
  });

  test("is what there is of a WAV that was cut, or that was written to a pipe", async () => {
    const sound = (dataBytes: number) => listen(wav({ seconds: 3, dataBytes }));
    assert.deepEqual((await sound(9_999_999))?.seconds, 3);
    assert.deepEqual((await sound(0xffff_ffff))?.seconds, 3);
    assert.deepEqual((await sound(0))?.seconds, 3);
    assert.deepEqual((await listen(wav({ seconds: 0 })))?.seconds, 0);
  });

  test("is found behind other chunks of a WAV", async () => {
    const list = Buffer.concat([Buffer.from("LIST\u0005\0\0\0"), Buffer.from("INFO!\0")]);
    const long = Buffer.concat([speechWav.subarray(0, 36), list, speechWav.subarray(36)]);
    assert.equal((await listen(long))?.seconds, 8);
  });

  test("is in a FLAC's STREAMINFO", async () => {
    const seconds = (await listen(stored("tone.flac")))?.seconds ?? 0;
    assert.ok(Math.abs(seconds - 1) < 0.01, String(seconds));
  });

  test("is 4000 bytes a second for other sounds where there is no ffprobe", async (t) => {
    await withFfprobe(t);
    const sounds = { "tone.mp3": "mp3", "tone.ogg": "ogg", "clip.mp4": "mp4", "clip.webm": "webm" };
    for (const [name, container] of Object.entries(sounds)) {
      const sound = await listen(stored(name));
      assert.deepEqual([sound?.container, sound?.seconds], [container, stored(name).length / 4000]);
    }
  });

  test("is what ffprobe says where there is one, unless it says nothing", async (t) => {
    await withFfprobe(t, 'for last; do :; done; test "$(wc -c < "$last")" -eq 1800 && echo 12.34');
    assert.equal((await listen(stored("tone.mp3")))?.seconds, 12.34);
    assert.equal(await listen(stored("tone.ogg")), undefined);
    await withFfprobe(t, "echo N/A");
    assert.equal((await listen(stored("tone.mp3")))?.seconds, 0.45);
  });
});

describe("a sound", () => {
  test("is silent when nothing but zeros is in a WAV's data", async () => {
    assert.equal((await listen(silentWav))?.isSilent, true);
    assert.equal((await listen(speechWav))?.isSilent, false);
    const last = Buffer.from(silentWav);
    last[last.length - 1] = 1;
    assert.equal((await listen(last))?.isSilent, false);
  });

  test("is none when its bytes are no audio or stop in the header", async () => {
    assert.equal(await listen(stored("picture.png")), undefined);
    assert.equal(await listen(Buffer.alloc(0)), undefined);
    assert.equal(await listen(speechWav.subarray(0, 30)), undefined);
    assert.equal(await listen(stored("tone.flac").subarray(0, 20)), undefined);
  });
});
