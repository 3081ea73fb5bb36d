import { createRequire } from "node:module";
import { constants, setPriority } from "node:os";
import { AudioUnreadable } from "./ffmpeg.ts";
import { decode, samplesPerSecond } from "./decode.ts";
import { findModel, localModelName } from "./local-model.ts";
import type { Segment, Transcript } from "./transcript.ts";

// The process that listens: one file after the other. Everything but an unreadable file ends it, and the parent
// starts another one.

export interface Task {
  path: string;
}
export type Outcome = { transcript: Transcript } | { unreadable: string };

interface Sherpa {
  Vad: new (config: object, bufferSeconds: number) => Detector;
  OfflineRecognizer: new (config: object) => Recognizer;
}
interface Detector {
  acceptWaveform(samples: Float32Array): void;
  isEmpty(): boolean;
  isDetected(): boolean;
  front(isShared: boolean): { start: number; samples: Float32Array };
  pop(): void;
  flush(): void;
  reset(): void;
}
interface Recognizer {
  createStream(): { acceptWaveform(wave: { samples: Float32Array; sampleRate: number }): void };
  decode(stream: object): void;
  getResult(stream: object): { text: string };
}

const windowSamples = 512;
/** From here on a short breath is enough to cut; */
const easySeconds = 15;
/** and here it is cut in any case. The model gets worse past 30 s. */
const longestSeconds = 25;
/** The detector counts samples in 32 bits: 37 hours. It starts over in a silence after each hour. */
const restartSeconds = 3_600;

const [cacheDir = "", threads = "1"] = process.argv.slice(2);
setPriority(constants.priority.PRIORITY_LOW);

async function load(): Promise<{ detector: Detector; recognizer: Recognizer }> {
  const sherpa = createRequire(import.meta.url)("sherpa-onnx-node") as Sherpa;
  const model = await findModel(cacheDir);
  const sileroVad = {
    model: model.detector,
    threshold: 0.5,
    // With half a second, sentences of people who read were joined that this tells apart.
    minSilenceDuration: 0.35,
    minSpeechDuration: 0.25,
    maxSpeechDuration: easySeconds,
    windowSize: windowSamples,
  };
  const moonshine = { encoder: model.encoder, mergedDecoder: model.decoder };
  return {
    detector: new sherpa.Vad({ sileroVad, sampleRate: samplesPerSecond, numThreads: 1 }, 60),
    recognizer: new sherpa.OfflineRecognizer({
      featConfig: { sampleRate: samplesPerSecond },
      modelConfig: { moonshine, tokens: model.tokens, numThreads: Number(threads) },
    }),
  };
}

const loaded = load();

async function transcribe(path: string): Promise<Transcript> {
  const { detector, recognizer } = await loaded;
  const segments: Segment[] = [];
  let [heard, origin, quietUntil] = [0, 0, 0];

  const recognize = (samples: Float32Array): string => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate: samplesPerSecond });
    recognizer.decode(stream);
    return recognizer.getResult(stream).text.trim();
  };
  const takeSegments = (): void => {
    for (; !detector.isEmpty(); detector.pop()) {
      const { start, samples } = detector.front(false);
      const text = recognize(samples);
      const from = origin + start;
      const end = Math.min(from + samples.length, heard) / samplesPerSecond;
      // Music that passes for a voice has no words.
      if (text) segments.push({ start: from / samplesPerSecond, end, text });
    }
  };
  const listen = (samples: Float32Array): void => {
    detector.acceptWaveform(samples);
    heard += samples.length;
    if (!detector.isDetected()) quietUntil = heard;
    if (heard - quietUntil > longestSeconds * samplesPerSecond) {
      detector.flush();
      quietUntil = heard;
    }
    takeSegments();
    if (quietUntil === heard && heard - origin > restartSeconds * samplesPerSecond) {
      detector.reset();
      origin = heard;
    }
  };

  detector.reset();
  for await (const chunk of decode(path)) {
    for (let at = 0; at < chunk.length; at += windowSamples)
      listen(chunk.subarray(at, at + windowSamples));
  }
  // What is short of a window waits inside the detector: silence pushes it through.
  detector.acceptWaveform(new Float32Array(2 * windowSamples));
  detector.flush();
  takeSegments();
  return {
    text: segments.map(({ text }) => text).join(" "),
    segments,
    language: "en",
    seconds: heard / samplesPerSecond,
    model: localModelName,
  };
}

async function answer({ path }: Task): Promise<Outcome> {
  try {
    return { transcript: await transcribe(path) };
  } catch (error) {
    if (error instanceof AudioUnreadable) return { unreadable: error.reason };
    throw error;
  }
}

// Without a parent there is nobody to tell.
process.on("disconnect", () => process.exit());
process.on("message", (task: Task) => {
  void answer(task).then((outcome) => process.send?.(outcome));
});
