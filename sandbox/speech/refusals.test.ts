import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { files } from "../file-host-files.ts";
import { addFault } from "../testing.ts";
import { body, calls, key, rawForm, sendRaw, set, speechWav, start } from "./speech.testing.ts";
import { transcribe, transcriptions, wav } from "./speech.testing.ts";
import type { Ask } from "./speech.testing.ts";

interface Refusal {
  error: { message: string; type: string; param: string | null; code: string | null };
}
const type = "invalid_request_error";
const capBytes = 26_214_400;

/** A form of exactly so many bytes, around a WAV. */
function formOf(sizeBytes: number): Buffer {
  const around = (file: Buffer): Buffer =>
    rawForm("edge", [
      ['name="model"', "whisper-1"],
      ['name="file"; filename="long.wav"', file],
    ]);
  const spare = sizeBytes - around(Buffer.alloc(0)).length - 44;
  return around(wav({ seconds: spare / 1000, fill: 1 }));
}

describe("OpenAI refuses", () => {
  const cases: [what: string, ask: Ask, status: number, expected: Partial<Refusal["error"]>][] = [
    ["a wrong key", { key: "sk-wrong" }, 401, { code: "invalid_api_key" }],
    ["no key", { key: null }, 401, { code: "invalid_api_key" }],
    ["a form without a file", { file: null }, 400, { param: "file" }],
    ["a form without a model", { fields: { model: undefined } }, 400, { param: "model" }],
    ["an unknown model", { fields: { model: "whisper-9" } }, 404, { code: "model_not_found" }],
    [
      "an unknown format",
      { fields: { response_format: "xml" } },
      400,
      { code: "invalid_value", param: "response_format" },
    ],
    ["a language by its name", { fields: { language: "english" } }, 400, { param: "language" }],
    [
      "a name with another extension, whatever the bytes are",
      { name: "audio.opus", file: files.get("tone.ogg")?.bytes ?? null },
      400,
      {
        message:
          "Invalid file format. Supported formats: ['flac','m4a','mp3','mp4','mpeg','mpga','oga','ogg','wav','webm']",
      },
    ],
    ["a name without an extension", { name: "blob" }, 400, {}],
    [
      "bytes that are not what the extension says",
      { name: "audio.mp3" },
      400,
      { message: "The audio file could not be decoded or its format is not supported." },
    ],
    ["bytes that are no audio", { file: Buffer.from("<html>"), name: "a.wav" }, 400, {}],
    ["a WAV that ends in its header", { file: speechWav.subarray(0, 40) }, 400, {}],
    ["an empty file", { file: Buffer.alloc(0) }, 400, {}],
    ["an unknown path", { path: "/v1/audio/nothing" }, 404, {}],
  ];
  for (const [what, ask, status, expected] of cases) {
    test(`${what} with ${status} in its envelope, and accepts nothing`, async (t) => {
      const sandbox = await start(t);
      const { error } = await body<Refusal>(transcribe(sandbox, ask), status);
      assert.deepEqual(Object.keys(error), ["message", "type", "param", "code"]);
      assert.deepEqual(error, { ...error, type, ...expected });
      assert.deepEqual(sandbox.journal.find({ accepted: true }).entries, []);
    });
  }

  test("what is no form, or one that breaks off", async (t) => {
    const sandbox = await start(t);
    const json = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const url = `${sandbox.url}/speech${transcriptions}`;
    const plain = fetch(url, { method: "POST", headers: json, body: "{}" });
    assert.match((await body<Refusal>(plain, 400)).error.message, /not multipart/);
    const form = rawForm("edge", [['name="model"', "whisper-1"]]);
    const broken = sendRaw(sandbox, "edge", form.subarray(0, form.length - 8));
    assert.match((await body<Refusal>(broken, 400)).error.message, /^Could not parse multipart/);
  });

  test("a body over 26,214,400 bytes with 413 that calls itself a server error", async (t) => {
    const sandbox = await start(t);
    await body(sendRaw(sandbox, "edge", formOf(capBytes)));
    const over = await body<Refusal & { usage: object }>(
      sendRaw(sandbox, "edge", formOf(capBytes + 80_572)),
      413,
    );
    assert.deepEqual(over.error, {
      message: "413: Maximum content size limit (26214400) exceeded (26294972 bytes read)",
      type: "server_error",
      param: null,
      code: null,
    });
    assert.deepEqual(over.usage, { type: "duration", seconds: 0 });
    const one = await body<Refusal>(sendRaw(sandbox, "edge", formOf(capBytes + 1)), 413);
    assert.match(one.error.message, /\(26214401 bytes read\)$/);
    assert.deepEqual(
      calls(sandbox).map(({ accepted, outcome }) => [accepted, outcome.status]),
      [
        [true, 200],
        [false, 413],
        [false, 413],
      ],
    );
  });

  test("the right key when a fault has it expired; any key when none is set", async (t) => {
    const sandbox = await start(t);
    await addFault(sandbox, {
      service: "speech",
      phase: "before",
      effect: "expire_token",
      times: 1,
    });
    assert.equal((await body<Refusal>(transcribe(sandbox), 401)).error.code, "invalid_api_key");
    await body(transcribe(sandbox));
    await set(sandbox, { apiKey: "other" });
    await body(transcribe(sandbox), 401);
    await body(transcribe(sandbox, { key: "other" }));
    await set(sandbox, { apiKey: null });
    await body(transcribe(sandbox, { key: null }));
  });
});
