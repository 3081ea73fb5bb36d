import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { quiet } from "../../test/helpers/database.ts";
import { until } from "../../test/helpers/until.ts";
import { AudioUnreadable } from "./ffmpeg.ts";
import { SpeechBusy, SpeechFailed } from "./failures.ts";
import { createLocalSpeech } from "./local.ts";
import type { LocalSpeech } from "./local.ts";
import { processesWith, temporaryFolder, tone, writeWav } from "./speech.testing.ts";

const dir = await temporaryFolder();
const short = await writeWav(join(dir, "short.wav"), 1, tone);
/** Takes seconds to listen to. */
const long = await writeWav(join(dir, "long.wav"), 900, () => Math.random() - 0.5);

const opened: LocalSpeech[] = [];
after(async () => await Promise.all(opened.map(async (speech) => await speech.close())));

/** An engine of the test's own, told from the others by the folder of its tokens. */
function start(name: string, options: { maxWaiting?: number; idleMs?: number } = {}) {
  const cacheDir = join(dir, name);
  const speech = createLocalSpeech({ log: quiet, cacheDir, ...options });
  opened.push(speech);
  const listeners = (): number[] => processesWith("local-child.ts", cacheDir);
  const isListening = (): boolean => processesWith("ffmpeg", long).length === 1;
  return { speech, listeners, isListening };
}

test("there is no process before the first file, one for all files, none after the end", async () => {
  const { speech, listeners } = start("life");
  assert.equal(listeners().length, 0);
  await Promise.all([speech.transcribe(short), speech.transcribe(short)]);
  const [pid, ...others] = listeners();
  assert.equal(others.length, 0);
  await speech.transcribe(short);
  assert.deepEqual(listeners(), [pid]);
  await speech.close();
  assert.deepEqual(listeners(), []);
  await assert.rejects(speech.transcribe(short), SpeechFailed);
});

test("sound without speech has an empty transcript and its length", async () => {
  const { speech } = start("tone");
  const transcript = await speech.transcribe(short);
  const expected = { text: "", segments: [], language: "en", seconds: 1, model: "moonshine-tiny" };
  assert.deepEqual(transcript, expected);
});

test("a broken file fails alone: the process goes on", async () => {
  const { speech, listeners } = start("broken");
  await speech.transcribe(short);
  const before = listeners();
  await assert.rejects(speech.transcribe(import.meta.filename), AudioUnreadable);
  assert.equal((await speech.transcribe(short)).seconds, 1);
  assert.deepEqual(listeners(), before);
});

test("a file whose process is killed fails, and the next one gets a new process", async () => {
  const { speech, listeners, isListening } = start("killed");
  const lost = assert.rejects(speech.transcribe(long), SpeechFailed);
  const next = speech.transcribe(short);
  await until(isListening, 30_000);
  const [pid = 0] = listeners();
  process.kill(pid, "SIGKILL");
  await lost;
  assert.equal((await next).seconds, 1);
  assert.notDeepEqual(listeners(), [pid]);
  await until(() => processesWith("ffmpeg", long).length === 0);
});

test("an aborted file leaves no process at work, and the next one is served", async () => {
  const { speech, isListening } = start("aborted");
  const stop = new AbortController();
  const lost = assert.rejects(speech.transcribe(long, { signal: stop.signal }), /enough/);
  const next = speech.transcribe(short);
  await until(isListening, 30_000);
  stop.abort(new Error("enough"));
  await lost;
  await until(() => processesWith("ffmpeg", long).length === 0);
  assert.equal((await next).seconds, 1);
});

test("as many wait as may, in order; more are refused; who gives up makes room", async () => {
  const { speech, isListening } = start("queue", { maxWaiting: 2 });
  const [first, second] = [new AbortController(), new AbortController()];
  const order: string[] = [];
  const running = assert.rejects(speech.transcribe(long, { signal: first.signal }));
  const givenUp = assert.rejects(speech.transcribe(short, { signal: second.signal }));
  const third = speech.transcribe(short).then(() => order.push("third"));
  await assert.rejects(speech.transcribe(short), SpeechBusy);
  second.abort();
  await givenUp;
  const fourth = speech.transcribe(short).then(() => order.push("fourth"));
  await assert.rejects(speech.transcribe(short), SpeechBusy);
  await until(isListening, 30_000);
  first.abort();
  await Promise.all([running, third, fourth]);
  assert.deepEqual(order, ["third", "fourth"]);
});

test("an idle process ends, and another one starts when it is needed", async () => {
  const { speech, listeners } = start("idle", { idleMs: 20 });
  await speech.transcribe(short);
  await until(() => listeners().length === 0);
  assert.equal((await speech.transcribe(short)).seconds, 1);
});

test("the API's process stays free while a file is transcribed", async () => {
  const { speech, isListening } = start("free");
  const stop = new AbortController();
  const lost = assert.rejects(speech.transcribe(long, { signal: stop.signal }));
  await until(isListening, 30_000);
  const before = performance.eventLoopUtilization();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { utilization } = performance.eventLoopUtilization(before);
  stop.abort();
  await lost;
  assert.ok(utilization < 0.1, `${utilization} of the time was taken`);
});

test("a closing engine fails what is under way and what waits", async () => {
  const { speech, listeners, isListening } = start("closing");
  const lost = [long, short].map(async (path) => {
    await assert.rejects(speech.transcribe(path), SpeechFailed);
  });
  await until(isListening, 30_000);
  await speech.close();
  await Promise.all(lost);
  assert.deepEqual(listeners(), []);
  await until(() => processesWith("ffmpeg", long).length === 0);
});
