import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  body,
  formWithout,
  hugeForm,
  languageOf,
  sendRaw,
  sentence,
  set,
} from "./speech.testing.ts";
import { silentWav, startAs, verbosely, wav } from "./speech.testing.ts";
import type { Verbose } from "./speech.testing.ts";

const said = [sentence, sentence, sentence].join(" ");
const words = { ...verbosely, "timestamp_granularities[]": "word" };
describe("Groq", () => {
  test("answers in OpenAI's shape with its own id, also under its own path", async (t) => {
    const { ask } = await startAs(t, "groq");
    for (const path of ["/v1/audio/transcriptions", "/openai/v1/audio/transcriptions"]) {
      const response = await ask({ path });
      const id = response.headers.get("x-request-id");
      const usage = { type: "duration", seconds: 8 };
      assert.deepEqual(await response.json(), { text: said, usage, x_groq: { id } });
      assert.match(id ?? "", /^req_/);
    }
    const { segments, duration } = await body<Verbose>(ask({ fields: verbosely }));
    assert.deepEqual([duration, segments?.[0]?.seek], [8, 0]);
    assert.deepEqual(Object.keys(segments?.[0] ?? {}).slice(-2), [
      "compression_ratio",
      "no_speech_prob",
    ]);
    const onlyWords = await body<Verbose>(ask({ fields: words }));
    assert.deepEqual([onlyWords.words?.length, onlyWords.segments], [27, undefined]);
  });

  test("writes a language with a capital", async (t) => {
    assert.equal(await languageOf(await startAs(t, "groq")), "German");
  });

  test("has no subtitles, and its own models only", async (t) => {
    const { ask } = await startAs(t, "groq");
    for (const response_format of ["srt", "vtt"])
      await body(ask({ fields: { response_format } }), 400);
    const response = await ask({ fields: { response_format: "text" } });
    assert.equal(await response.text(), `${said}\n`);
    await body(ask({ fields: { model: "whisper-large-v3-turbo" } }));
    await body(ask({ fields: { model: "whisper-1" } }), 404);
  });

  test("takes 0.01 seconds and not less", async (t) => {
    const { ask } = await startAs(t, "groq");
    await body(ask({ file: wav({ seconds: 0.01 }) }));
    await body(ask({ file: wav({ seconds: 0.009 }) }), 400);
  });

  test("refuses a wrong key and a large body in its own words", async (t) => {
    const { sandbox, ask } = await startAs(t, "groq");
    const type = "invalid_request_error";
    assert.deepEqual(await body(ask({ key: "gsk_wrong" }), 401), {
      error: { message: "Invalid API Key", type, code: "invalid_api_key" },
    });
    assert.deepEqual(await body(sendRaw(sandbox, "edge", hugeForm()), 413), {
      error: { message: "Request Entity Too Large", type, code: "request_too_large" },
    });
  });
});

describe("speaches", () => {
  test("answers in OpenAI's shape with the language as a code", async (t) => {
    const called = await startAs(t, "speaches");
    assert.deepEqual(await body(called.ask()), { text: said });
    const { segments, language } = await body<Verbose>(called.ask({ fields: verbosely }));
    assert.equal(language, "en");
    assert.deepEqual(
      [segments?.[0]?.no_speech_prob, segments?.[0]?.compression_ratio],
      [0.0098, 1.236],
    );
    assert.equal((await body<Verbose>(called.ask({ fields: words }))).words?.length, 27);
    const srt = await called.ask({ fields: { response_format: "srt" } });
    assert.match(await srt.text(), /^1\n00:00:00,000 --> /);
    assert.equal(await languageOf(called), "de");
  });

  test("detects voice first, so silence has no segments", async (t) => {
    const { ask } = await startAs(t, "speaches");
    const silent = await body<Verbose>(ask({ file: silentWav, fields: verbosely }));
    assert.deepEqual([silent.text, silent.segments], ["", []]);
  });

  test("has a model once it is installed", async (t) => {
    const { sandbox, ask } = await startAs(t, "speaches");
    const model = "Systran/faster-distil-whisper-large-v3";
    const { detail } = await body<{ detail: string }>(ask({ fields: { model } }), 404);
    assert.match(detail, /not installed/);
    const install = await fetch(`${sandbox.url}/speech/v1/models/${model}`, { method: "POST" });
    assert.equal(install.status, 201);
    await body(ask({ fields: { model } }));
  });

  test("refuses in `detail`: text, and a list for what is missing", async (t) => {
    const { sandbox, ask } = await startAs(t, "speaches");
    const detail = async (answer: Promise<Response>, status: number) =>
      (await body<{ detail: unknown }>(answer, status)).detail;
    for (const key of ["wrong", null])
      assert.equal(typeof (await detail(ask({ key }), 403)), "string");
    assert.equal(
      typeof (await detail(ask({ file: Buffer.from("MZ"), name: "a.wav" }), 415)),
      "string",
    );
    assert.equal(typeof (await detail(ask({ file: Buffer.alloc(0) }), 400)), "string");
    assert.equal(await detail(ask({ path: "/nothing" }), 404), "Not Found");
    const missing = await detail(sendRaw(sandbox, "edge", formWithout("model")), 422);
    assert.deepEqual(missing, [
      { type: "missing", loc: ["body", "model"], msg: "Field required", input: null },
    ]);
    assert.ok(Array.isArray(await detail(ask({ file: null }), 422)));
    assert.ok(Array.isArray(await detail(ask({ fields: { response_format: "xml" } }), 422)));
    await set(sandbox, { apiKey: null });
    await body(ask({ key: null }));
  });
});
