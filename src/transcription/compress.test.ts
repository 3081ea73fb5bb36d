import assert from "node:assert/strict";
import { access, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { compress, findCuts, split } from "./compress.ts";
import { probe } from "./decode.ts";
import { AudioUnreadable } from "./ffmpeg.ts";
import { ffmpeg, temporaryFolder, tone, writeWav } from "./speech.testing.ts";

const dir = await temporaryFolder();
/** Half a second of silence after every four and a half of sound. */
const wav = await writeWav(join(dir, "pauses.wav"), 30, (second) =>
  second % 5 < 4.5 ? tone(second) : 0,
);

test("compressed sound is as long as before and as small as asked for", async () => {
  const path = join(dir, "small.ogg");
  await compress(wav, { path, kbps: 24 });
  const { seconds } = await probe(path);
  assert.ok(Math.abs(seconds - 30) < 0.05, `${seconds} s`);
  const { size } = await stat(path);
  assert.ok(size < (30 * 24_000 * 1.2) / 8, `${size} bytes`);
});

test("what can't be compressed leaves no file", async () => {
  const path = join(dir, "never.ogg");
  await assert.rejects(compress(import.meta.filename, { path }), AudioUnreadable);
  const silent = join(dir, "silent.mp4");
  await ffmpeg("-f", "lavfi", "-t", "1", "-i", "color=s=32x32", silent);
  await assert.rejects(compress(silent, { path }), AudioUnreadable);
  await assert.rejects(compress(wav, { path }, { signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
  await assert.rejects(access(path), { code: "ENOENT" });
});

test("pieces are cut in the pauses, none is too long, nothing is lost", async () => {
  const pieces = await split(wav, 12, { dir: join(dir, "100% pieces") });
  const starts = pieces.map(({ startSeconds }) => startSeconds);
  assert.equal(starts[0], 0);
  for (const start of starts.slice(1)) assert.ok(start % 5 > 4.5, `cut at ${start}`);
  let total = 0;
  for (const { path, startSeconds } of pieces) {
    assert.ok(Math.abs(startSeconds - total) < 0.05, `${path} begins at ${total}`);
    const { seconds } = await probe(path);
    assert.ok(seconds <= 12, `${seconds} s`);
    total += seconds;
  }
  assert.ok(Math.abs(total - 30) < 0.1, `${total} s in all`);
});

test("what is short enough is one piece", async () => {
  const pieces = await split(wav, 60, { dir: join(dir, "whole") });
  assert.equal(pieces.length, 1);
  const { seconds } = await probe(pieces[0]?.path ?? "");
  assert.ok(Math.abs(seconds - 30) < 0.05, `${seconds} s`);
});

test("sound without a pause is cut all the same", () => {
  const frames = Array.from({ length: 100 }, () => 1);
  const cuts = findCuts(frames, 3);
  const ends = [...cuts, 10];
  ends.forEach((end, at) => assert.ok(end - (ends[at - 1] ?? 0) <= 3));
  assert.equal(cuts.length, 3);
});
