import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { body, sentence, silentWav, start, transcribe, verbosely, wav } from "./speech.testing.ts";

const second = wav({ seconds: 1 });
const gpt4o = ["gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-mini-transcribe-2025-12-15"];
const formats = {
  "whisper-1": ["json", "text", "srt", "verbose_json", "vtt"],
  "gpt-transcribe": ["json", "text"],
  ...Object.fromEntries(gpt4o.map((model) => [model, ["json", "text"]])),
  "gpt-4o-transcribe-diarize": ["json", "text", "diarized_json"],
};
const everyFormat = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"];

interface Refusal {
  error: { message: string; type: string; param: string | null; code: string | null };
}

describe("the models of OpenAI", () => {
  test("answer in their formats and refuse all others as unsupported_value", async (t) => {
    const sandbox = await start(t);
    for (const [model, supported] of Object.entries(formats))
      for (const response_format of everyFormat) {
        const answer = await transcribe(sandbox, {
          file: second,
          fields: { model, response_format },
        });
        const place = `${model} ${response_format}`;
        assert.equal(answer.status, supported.includes(response_format) ? 200 : 400, place);
        if (answer.status === 200) await answer.text();
        else {
          const { error } = (await answer.json()) as Refusal;
          assert.deepEqual(
            [error.code, error.param],
            ["unsupported_value", "response_format"],
            place,
          );
        }
      }
  });

  test("of the gpt kind count tokens, and give logprobs and languages where they have them", async (t) => {
    const sandbox = await start(t);
    const ask = async (model: string, file = second): Promise<Record<string, unknown>> =>
      await body(transcribe(sandbox, { file, fields: { model, "include[]": "logprobs" } }));
    const usage = {
      type: "tokens",
      input_tokens: 10,
      input_token_details: { text_tokens: 0, audio_tokens: 10 },
      output_tokens: 9,
      total_tokens: 19,
    };
    const { logprobs, ...rest } = await ask("gpt-4o-transcribe");
    assert.equal((logprobs as unknown[]).length, 9);
    assert.deepEqual(rest, { text: sentence, usage });
    assert.deepEqual(await ask("gpt-transcribe"), { text: sentence, languages: ["en"], usage });
    assert.deepEqual((await ask("gpt-transcribe", silentWav))["languages"], []);
    assert.equal("logprobs" in (await ask("whisper-1")), false);
  });

  test("of the gpt-4o kind take 0.1 to 1400 seconds; whisper-1 has no longest", async (t) => {
    const sandbox = await start(t);
    const ask = (model: string, seconds: number) =>
      transcribe(sandbox, { file: wav({ seconds }), fields: { model } });
    for (const model of gpt4o) {
      const long = await body<Refusal>(ask(model, 1830.5), 400);
      assert.equal(
        long.error.message,
        "audio duration 1830.5 seconds is longer than 1400 seconds which is the maximum for this model",
      );
      assert.equal(long.error.code, "invalid_value");
      const short = await body<Refusal>(ask(model, 0.02), 400);
      assert.match(
        short.error.message,
        /^audio duration 0\.0 seconds is shorter than 0\.1 seconds/,
      );
      assert.equal(short.error.code, "invalid_value");
    }
    await body(ask("gpt-4o-transcribe", 1400));
    await body(ask("whisper-1", 1830.5));
    const { error } = await body<Refusal>(ask("whisper-1", 0.02), 400);
    assert.deepEqual(
      [error.message, error.code],
      ["Audio file is too short. Minimum audio length is 0.1 seconds.", "audio_too_short"],
    );
    await body(ask("whisper-1", 0.1));
  });

  test("tell speakers apart, in more than 30 seconds only with a chunking_strategy", async (t) => {
    const sandbox = await start(t);
    const ask = (seconds: number, fields: Record<string, string> = {}) =>
      transcribe(sandbox, {
        file: wav({ seconds }),
        fields: { model: "gpt-4o-transcribe-diarize", response_format: "diarized_json", ...fields },
      });
    const { usage, ...answer } = await body<Record<string, unknown>>(ask(2));
    assert.equal((usage as { type: string }).type, "tokens");
    assert.deepEqual(answer, {
      task: "transcribe",
      duration: 2,
      text: sentence,
      segments: [
        {
          type: "transcript.text.segment",
          id: "seg_0",
          start: 0,
          end: 2,
          text: sentence,
          speaker: "A",
        },
      ],
    });
    const { error } = await body<Refusal>(ask(31), 400);
    assert.equal(error.param, "chunking_strategy");
    await body(ask(31, { chunking_strategy: "auto" }));
  });

  test("stream when asked, except whisper-1", async (t) => {
    const sandbox = await start(t);
    const ask = (model: string) =>
      transcribe(sandbox, { file: second, fields: { model, stream: "true" } });
    const response = await ask("gpt-4o-mini-transcribe");
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
    const lines = (await response.text()).split("\n\n").filter(Boolean);
    const events = lines.map(
      (line) => JSON.parse(line.replace(/^data: /, "")) as Record<string, unknown>,
    );
    const done = events.pop();
    assert.ok(events.every(({ type }) => type === "transcript.text.delta"));
    assert.equal(events.map(({ delta }) => delta).join(""), sentence);
    assert.deepEqual([done?.["type"], done?.["text"]], ["transcript.text.done", sentence]);
    assert.ok(done?.["usage"]);
    assert.equal((await body<{ text: string }>(ask("whisper-1"))).text, sentence);
  });

  test("give times in verbose_json alone", async (t) => {
    const sandbox = await start(t);
    const ask = (fields: Record<string, string>) => transcribe(sandbox, { file: second, fields });
    const wanted = { "timestamp_granularities[]": "word" };
    assert.equal((await body<Refusal>(ask(wanted), 400)).error.code, "invalid_value");
    await body(ask({ ...wanted, ...verbosely }));
    const unknown = { "timestamp_granularities[]": "syllable", ...verbosely };
    assert.equal((await body<Refusal>(ask(unknown), 400)).error.param, "timestamp_granularities[]");
  });
});
