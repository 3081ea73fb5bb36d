import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { files } from "../file-host-files.ts";
import {
  body,
  calls,
  sentence,
  set,
  sha256,
  silentWav,
  speechWav,
  start,
  transcribe,
  verbosely,
  wav,
} from "./speech.testing.ts";
import type { Verbose } from "./speech.testing.ts";

const said = [sentence, sentence, sentence].join(" ");
const granularities = (...wanted: string[]) => ({
  fields: { ...verbosely, "timestamp_granularities[]": wanted },
});

describe("an answer of whisper-1", () => {
  test("is json unless told: the text and the seconds to pay", async (t) => {
    const sandbox = await start(t);
    const response = await transcribe(sandbox);
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
    assert.match(response.headers.get("x-request-id") ?? "", /^req_/);
    for (const name of ["openai-processing-ms", "x-ratelimit-reset-requests"])
      assert.ok(response.headers.has(name), name);
    const usage = { type: "duration", seconds: 8 };
    assert.deepEqual(await response.json(), { text: said, usage });
  });

  test("is the same for the same file, and knows its length", async (t) => {
    const sandbox = await start(t);
    const [first, second] = await Promise.all([transcribe(sandbox), transcribe(sandbox)]);
    assert.equal(await first.text(), await second.text());
    const short = await body<Verbose>(
      transcribe(sandbox, { file: wav({ seconds: 8.47 }), fields: verbosely }),
    );
    assert.equal(short.duration, 8.47);
    assert.deepEqual(short.usage, { type: "duration", seconds: 9 });
  });

  test("is text with a line end, srt or vtt as plain text", async (t) => {
    const sandbox = await start(t);
    const plain = async (response_format: string): Promise<string> => {
      const file = wav({ seconds: 4 });
      const response = await transcribe(sandbox, { file, fields: { response_format } });
      assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
      return await response.text();
    };
    assert.equal(await plain("text"), `${sentence} ${sentence}\n`);
    assert.equal(
      await plain("srt"),
      `1\n00:00:00,000 --> 00:00:03,600\n${sentence}\n\n2\n00:00:03,600 --> 00:00:04,000\n${sentence}\n\n`,
    );
    assert.equal(
      await plain("vtt"),
      `WEBVTT\n\n00:00:00.000 --> 00:00:03.600\n${sentence}\n\n00:00:03.600 --> 00:00:04.000\n${sentence}\n\n`,
    );
  });

  test("counts minutes and hours in subtitles", async (t) => {
    const sandbox = await start(t);
    const segments = [{ start: 3661.5, end: 3662.25, text: "Late." }];
    await set(sandbox, { transcripts: { [sha256(speechWav)]: { text: "Late.", segments } } });
    const response = await transcribe(sandbox, { fields: { response_format: "srt" } });
    assert.equal(await response.text(), "1\n01:01:01,500 --> 01:01:02,250\nLate.\n\n");
  });

  test("is verbose with every field of a segment", async (t) => {
    const sandbox = await start(t);
    const answer = await body<Verbose>(transcribe(sandbox, { fields: verbosely }));
    const { segments = [], ...rest } = answer;
    const usage = { type: "duration", seconds: 8 };
    assert.deepEqual(rest, {
      task: "transcribe",
      language: "english",
      duration: 8,
      text: said,
      usage,
    });
    assert.deepEqual(
      segments.map(({ start, end }) => [start, end]),
      [
        [0, 3.6],
        [3.6, 7.2],
        [7.2, 8],
      ],
    );
    const { tokens, ...first } = segments[0] ?? { tokens: [] };
    assert.ok(tokens.length > 0);
    assert.deepEqual(first, {
      id: 0,
      seek: 0,
      start: 0,
      end: 3.6,
      text: ` ${sentence}`,
      temperature: 0,
      avg_logprob: -0.286,
      compression_ratio: 1.236,
      no_speech_prob: 0.0098,
    });
  });

  test("has words only when asked, and asked for words alone no segments", async (t) => {
    const sandbox = await start(t);
    const keys = async (...wanted: string[]) => {
      const answer = await body<Verbose>(transcribe(sandbox, granularities(...wanted)));
      return [answer.segments?.length, answer.words?.length];
    };
    assert.deepEqual(await keys(), [3, undefined]);
    assert.deepEqual(await keys("segment"), [3, undefined]);
    assert.deepEqual(await keys("word"), [undefined, 27]);
    assert.deepEqual(await keys("word", "segment"), [3, 27]);
    const { words } = await body<Verbose>(transcribe(sandbox, granularities("word")));
    assert.deepEqual(words?.slice(0, 2), [
      { word: "The", start: 0, end: 0.4 },
      { word: "quick", start: 0.4, end: 0.8 },
    ]);
  });

  test("names the language that was asked for", async (t) => {
    const sandbox = await start(t);
    const fields = { ...verbosely, language: "de" };
    assert.equal((await body<Verbose>(transcribe(sandbox, { fields }))).language, "german");
  });

  test("is what the file is known to say, also after the settings changed", async (t) => {
    const sandbox = await start(t);
    const segments = [
      { start: 0, end: 1, text: "Guten Tag." },
      { start: 1, end: 3, text: "Wie geht's?", no_speech_prob: 0.7, avg_logprob: -1.5 },
    ];
    const known = { text: "Guten Tag. Wie geht's?", segments, language: "de" };
    await set(sandbox, { transcripts: { [sha256(speechWav)]: known } });
    await set(sandbox, { delayMs: 1, transcripts: { ["0".repeat(64)]: { text: "Other." } } });
    const answer = await body<Verbose>(transcribe(sandbox, { fields: verbosely }));
    assert.deepEqual([answer.text, answer.language], [known.text, "german"]);
    assert.deepEqual(
      answer.segments?.map((each) => [each.text, each.no_speech_prob, each.avg_logprob]),
      [
        [" Guten Tag.", 0.0098, -0.286],
        [" Wie geht's?", 0.7, -1.5],
      ],
    );
    await set(sandbox, { transcripts: { [sha256(speechWav)]: { text: "One piece." } } });
    const piece = await body<Verbose>(transcribe(sandbox, { fields: verbosely }));
    assert.deepEqual(
      piece.segments?.map(({ start, end, text }) => [start, end, text]),
      [[0, 8, " One piece."]],
    );
  });

  test("hears nothing in silence: empty text and one doubtful segment", async (t) => {
    const sandbox = await start(t);
    const silence = { file: silentWav, fields: verbosely };
    const quiet = await body<Verbose>(transcribe(sandbox, silence));
    assert.equal(quiet.text, "");
    const doubt = ({ segments = [] }: Verbose) =>
      segments.map((each) => [each.text, each.end, each.no_speech_prob, each.avg_logprob]);
    assert.deepEqual(doubt(quiet), [["", 2, 0.95, -1.2]]);
    assert.equal((await body<{ text: string }>(transcribe(sandbox, { file: silentWav }))).text, "");

    await set(sandbox, { isHallucinating: true });
    const thanks = await body<Verbose>(transcribe(sandbox, silence));
    assert.equal(thanks.text, "Thank you.");
    assert.deepEqual(doubt(thanks), [[" Thank you.", 2, 0.95, -1.2]]);
  });

  test("is for every format that OpenAI names", async (t) => {
    const sandbox = await start(t);
    const named = {
      "tone.wav": ["wav"],
      "tone.flac": ["flac"],
      "tone.mp3": ["mp3", "mpga", "mpeg"],
      "tone.ogg": ["ogg", "oga", "OGG"],
      "clip.mp4": ["mp4", "m4a"],
      "clip.webm": ["webm"],
    };
    for (const [stored, extensions] of Object.entries(named))
      for (const extension of extensions) {
        const file = files.get(stored)?.bytes ?? null;
        const answer = await transcribe(sandbox, { file, name: `a.b.${extension}` });
        assert.equal((await body<{ text: string }>(answer)).text, sentence, extension);
      }
  });
});

describe("the journal", () => {
  test("has one accepted entry per transcription, with the sizes and the file's hash", async (t) => {
    const sandbox = await start(t);
    const response = await transcribe(sandbox, { fields: { prompt: "Names: Zo\u00eb" } });
    const [entry, ...more] = calls(sandbox);
    assert.deepEqual([entry?.accepted, more.length], [true, 0]);
    assert.deepEqual(entry?.outcome, {
      status: 200,
      remoteId: response.headers.get("x-request-id"),
    });
    const bodyBytes = Number(entry?.request?.headers["content-length"]);
    const hash = sha256(speechWav);
    assert.deepEqual(entry?.notes, [
      `body ${bodyBytes} bytes`,
      `file audio.wav ${speechWav.length} bytes sha256 ${hash}`,
      "model whisper-1 format json 8 seconds",
    ]);
    assert.deepEqual(JSON.parse(entry?.request?.body ?? ""), {
      bodyBytes,
      isTooLarge: false,
      fields: { model: ["whisper-1"], prompt: ["Names: Zo\u00eb"] },
      file: {
        name: "audio.wav",
        type: "application/octet-stream",
        sizeBytes: speechWav.length,
        sha256: hash,
      },
    });
  });
});
