import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalSpeech } from "../src/transcription/local.ts";
import { ffmpeg, recordings, recordingsAreMissing } from "../src/transcription/speech.testing.ts";
import { quiet } from "../test/helpers/database.ts";
import { median, say } from "./tools.ts";

// How many seconds of work does a second of speech take? The whole way of a file, decoding and all, in a process that
// is already up; and what the first file waits for. Needs pocketsphinx-testdata.

const rounds = 3;
const repeats = 3;
const wanted = 0.15;

if (recordingsAreMissing) throw new Error(recordingsAreMissing);
const dir = await mkdtemp(join(tmpdir(), "herald-bench-"));
try {
  const path = join(dir, "speech.mp3");
  const inputs = Array.from({ length: repeats }, recordings)
    .flat()
    .flatMap((recording) => ["-i", recording.path]);
  const chain = `concat=n=${inputs.length / 2}:v=0:a=1`;
  await ffmpeg(...inputs, "-filter_complex", chain, "-c:a", "libmp3lame", path);
  const load = loadavg()[0]?.toFixed(1);
  say(`${availableParallelism()} cores, load ${load}, Node ${process.version}`);
  for (const threads of [1, 2]) {
    const speech = createLocalSpeech({ log: quiet, cacheDir: dir, threads });
    const time = async (): Promise<{ took: number; seconds: number }> => {
      const begun = performance.now();
      const { seconds } = await speech.transcribe(path);
      return { took: (performance.now() - begun) / 1_000, seconds };
    };
    const first = await time();
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const { took, seconds } = await time();
      ratios.push(took / seconds);
    }
    await speech.close();
    const ratio = median(ratios);
    const verdict = ratio <= wanted ? "as wanted" : "too slow";
    say(
      `${threads} thread(s): ${ratio.toFixed(3)} s per second of ${first.seconds.toFixed(0)} s of speech ` +
        `(at most ${wanted}: ${verdict}); first file with start ${first.took.toFixed(1)} s`,
    );
  }
} finally {
  await rm(dir, { recursive: true, force: true });
}
