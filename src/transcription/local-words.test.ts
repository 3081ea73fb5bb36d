import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { quiet } from "../../test/helpers/database.ts";
import { split } from "./compress.ts";
import { createLocalSpeech } from "./local.ts";
import {
  ffmpeg,
  recordings,
  recordingsAreMissing,
  run,
  temporaryFolder,
  voicesAreMissing,
  wordErrors,
  writeWav,
} from "./speech.testing.ts";
import type { Recording } from "./speech.testing.ts";

const dir = await temporaryFolder();
const speech = createLocalSpeech({ log: quiet, cacheDir: dir });
after(async () => await speech.close());

async function errorRate(samples: Recording[]): Promise<{ rate: number; words: number }> {
  let [errors, words] = [0, 0];
  for (const { path, text } of samples) {
    const found = wordErrors(text, (await speech.transcribe(path)).text);
    errors += found.errors;
    words += found.words;
  }
  return { rate: errors / words, words };
}

const percent = (rate: number): string => `${(100 * rate).toFixed(1)} %`;

test(
  "at most 10 % of the words of people who read are wrong",
  { skip: recordingsAreMissing },
  async (t) => {
    const { rate, words } = await errorRate(recordings());
    t.diagnostic(`LibriVox: ${percent(rate)} of ${words} words`);
    assert.ok(rate <= 0.1, percent(rate));
  },
);

test(
  "at most 15 % of the words of synthetic voices are wrong",
  { skip: voicesAreMissing },
  async (t) => {
    const text =
      "The committee will meet on Thursday morning to discuss the new budget. Please bring your written comments and " +
      "a copy of the annual report. We expect the meeting to last about two hours, and lunch will be served afterwards " +
      "in the garden. If you are not able to come, send a short message to the office before Wednesday evening.";
    const voices = {
      slt: async (path: string) => await run("flite", ["-voice", "slt", "-t", text, "-o", path]),
      rms: async (path: string) => await run("flite", ["-voice", "rms", "-t", text, "-o", path]),
      espeak: async (path: string) => await run("espeak-ng", ["-s", "150", "-w", path, text]),
    };
    const rates: number[] = [];
    for (const [name, say] of Object.entries(voices)) {
      const path = join(dir, `${name}.wav`);
      await say(path);
      const { rate, words } = await errorRate([{ path, text }]);
      t.diagnostic(`${name}: ${percent(rate)} of ${words} words`);
      rates.push(rate);
    }
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    assert.ok(mean <= 0.15, percent(mean));
  },
);

const encodings: Record<string, string[]> = {
  mp3: ["-c:a", "libmp3lame", "-b:a", "64k"],
  m4a: ["-c:a", "aac"],
  mp4: ["-f", "lavfi", "-i", "color=s=32x32:r=5", "-shortest", "-c:a", "aac"],
  mov: ["-f", "lavfi", "-i", "color=s=32x32:r=5", "-shortest", "-c:a", "aac"],
  wav: ["-c:a", "pcm_s24le", "-ar", "48000", "-ac", "2"],
  ogg: ["-c:a", "libopus", "-b:a", "32k"],
  webm: ["-c:a", "libopus", "-b:a", "32k"],
  flac: ["-c:a", "flac"],
};

for (const [extension, encoding] of Object.entries(encodings))
  test(
    `${extension} gives the words of the recording`,
    { skip: recordingsAreMissing },
    async () => {
      const [recording] = recordings();
      assert.ok(recording);
      const path = join(dir, `recording.${extension}`);
      await ffmpeg("-i", recording.path, ...encoding, path);
      const { text } = await speech.transcribe(path);
      assert.equal(wordErrors(recording.text, text).errors, 0, text);
    },
  );

/** All recordings, one after the other, each behind so many seconds of silence. */
async function joined(name: string, pauseSeconds: number): Promise<string> {
  const pause = await writeWav(join(dir, `${name}-pause.wav`), pauseSeconds, () => 0);
  const inputs = recordings().flatMap(({ path }) => ["-i", pause, "-i", path]);
  const path = join(dir, `${name}.flac`);
  await ffmpeg(...inputs, "-filter_complex", `concat=n=${inputs.length / 2}:v=0:a=1`, path);
  return path;
}

test("segments lie where the sentences are", { skip: recordingsAreMissing }, async () => {
  const { segments, seconds, text } = await speech.transcribe(await joined("pauses", 2));
  assert.equal(segments.length, recordings().length);
  assert.equal(segments.map((segment) => segment.text).join(" "), text);
  segments.forEach(({ start, end }, index) => {
    const previous = segments[index - 1]?.end ?? 0;
    assert.ok(start - previous > 1.8 && start - previous < 3.2, `${previous} to ${start}`);
    assert.ok(end > start && end <= seconds);
  });
});

test(
  "long speech is cut before 26 s and loses no words",
  { skip: recordingsAreMissing },
  async () => {
    const once = await joined("dense", 0.1);
    const path = join(dir, "denser.flac");
    // Without the pauses, so that there is hardly a place to cut.
    await ffmpeg(
      "-stream_loop",
      "2",
      "-i",
      once,
      "-af",
      "silenceremove=stop_periods=-1:stop_duration=0.05:stop_threshold=-40dB",
      path,
    );
    const { segments, text } = await speech.transcribe(path);
    const said = recordings()
      .map((recording) => recording.text)
      .join(" ");
    const { errors, words } = wordErrors(`${said} ${said} ${said}`, text);
    assert.ok(segments.every(({ start, end }) => end - start < 26));
    assert.ok(errors / words < 0.12, `${errors} of ${words}`);
  },
);

test("a file in pieces has the words of the whole", { skip: recordingsAreMissing }, async () => {
  const path = await joined("pieces", 1);
  const pieces = await split(path, 12, { dir: join(dir, "pieces") });
  assert.ok(pieces.length >= 3);
  const texts: string[] = [];
  for (const piece of pieces) texts.push((await speech.transcribe(piece.path)).text);
  const said = recordings()
    .map(({ text }) => text)
    .join(" ");
  const { errors, words } = wordErrors(said, texts.join(" "));
  assert.ok(errors / words <= 0.1, `${errors} of ${words}: ${texts.join(" | ")}`);
});
