import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { files } from "../file-host-files.ts";
import {
  body,
  formWithout,
  hugeForm,
  languageOf,
  sendRaw,
  sentence,
  set,
} from "./speech.testing.ts";
import { startAs, verbosely } from "./speech.testing.ts";
import type { Verbose } from "./speech.testing.ts";

const said = [sentence, sentence, sentence].join(" ");

describe("whisper.cpp", () => {
  test("needs no key and no model, at /inference whatever the personality", async (t) => {
    const { sandbox, ask } = await startAs(t, "whispercpp");
    assert.deepEqual(await body(ask({ key: null })), { text: said });
    await set(sandbox, { personality: "openai" });
    assert.deepEqual(await body(ask({ key: null, path: "/inference" })), { text: said });
  });

  test("puts words into segments and leaves out seek, compression_ratio and usage", async (t) => {
    const { ask } = await startAs(t, "whispercpp");
    const answer = await body<Verbose>(ask({ fields: verbosely }));
    assert.deepEqual(Object.keys(answer), [
      "task",
      "language",
      "duration",
      "text",
      "segments",
      "detected_language",
      "detected_language_probability",
      "language_probabilities",
    ]);
    const [segment] = answer.segments ?? [];
    assert.deepEqual(Object.keys(segment ?? {}), [
      "id",
      "text",
      "start",
      "end",
      "tokens",
      "words",
      "temperature",
      "avg_logprob",
      "no_speech_prob",
    ]);
    assert.deepEqual(segment?.words?.[0], {
      word: " The",
      start: 0,
      end: 0.4,
      t_dtw: -1,
      probability: 0.95,
    });
  });

  test("leaves out times and probabilities when told", async (t) => {
    const { ask } = await startAs(t, "whispercpp");
    const fields = { ...verbosely, no_timestamps: "true", no_language_probabilities: "true" };
    const answer = await body<Verbose>(ask({ fields }));
    assert.equal("detected_language" in answer, false);
    const [segment] = answer.segments ?? [];
    assert.deepEqual(
      [segment?.start, segment?.end, segment?.words?.[0]?.start, segment?.text],
      [undefined, undefined, undefined, ` ${sentence}`],
    );
  });

  test("takes every sound for English unless told to listen", async (t) => {
    const called = await startAs(t, "whispercpp");
    assert.equal(await languageOf(called), "english");
    assert.equal(await languageOf(called, { language: "auto" }), "german");
    assert.equal(await languageOf(called, { language: "french" }), "french");
  });

  test("sends text, srt and vtt with types of its own, and json for any other format", async (t) => {
    const { ask } = await startAs(t, "whispercpp");
    const types = { text: "text/html", srt: "application/x-subrip", vtt: "text/vtt" };
    for (const [response_format, type] of Object.entries(types)) {
      const response = await ask({ fields: { response_format } });
      assert.ok(response.headers.get("content-type")?.startsWith(type), response_format);
      assert.match(await response.text(), /quick brown fox/);
    }
    assert.deepEqual(await body(ask({ fields: { response_format: "constructor" } })), {
      text: said,
    });
  });

  test("refuses with a bare string: no file, or one that it cannot read", async (t) => {
    const { sandbox, ask } = await startAs(t, "whispercpp");
    const noFile = { error: "no 'file' field in the request" };
    assert.deepEqual(await body(sendRaw(sandbox, "edge", formWithout("file")), 400), noFile);
    const unread = { error: "failed to read audio data" };
    const opus = Buffer.from("OggS....OpusHead");
    for (const file of [files.get("clip.mp4")?.bytes, files.get("clip.webm")?.bytes, opus])
      assert.deepEqual(await body(ask({ file: file ?? null, name: "a.wav" }), 400), unread);
    for (const name of ["tone.wav", "tone.mp3", "tone.flac", "tone.ogg"])
      await body(ask({ file: files.get(name)?.bytes ?? null, name: "noextension" }));
  });

  test("has no cap, answers an unknown path with text, and says it is well", async (t) => {
    const { sandbox, ask } = await startAs(t, "whispercpp");
    await body(sendRaw(sandbox, "edge", hugeForm()));
    const unknown = await ask({ path: "/nothing" });
    assert.equal(unknown.status, 404);
    assert.match(unknown.headers.get("content-type") ?? "", /^text\/plain/);
    assert.deepEqual(await body(fetch(`${sandbox.url}/speech/health`)), { status: "ok" });
  });

  test("works on one call at a time", async (t) => {
    const { sandbox, ask } = await startAs(t, "whispercpp");
    await set(sandbox, { delayMs: 40 });
    const startedAt = performance.now();
    await Promise.all([ask(), ask(), ask()].map((answer) => body(answer)));
    assert.ok(performance.now() - startedAt >= 110, "three in a row take three times as long");
  });
});
