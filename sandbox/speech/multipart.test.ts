import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, asyncProperty, assert as assertProperty, integer, oneof } from "fast-check";
import { boundaryOf } from "./multipart.ts";
import { rawForm, sendRaw, sentence, sha256, speechWav, start } from "./speech.testing.ts";
import type { RawPart } from "./speech.testing.ts";
import { readUpload } from "./upload.ts";
import type { Upload } from "./upload.ts";

const boundary = "----edge7";
const type = `multipart/form-data; boundary=${boundary}`;

/** Sound with everything in it that looks like the form around it, and fields on both sides. */
const almost = Buffer.from(
  `\r\n--\r\n----edge\r\n\r\r\n------edge6--\r\n--${boundary.slice(0, -1)}`,
);
const file = Buffer.concat([speechWav, almost, Buffer.from([0, 13, 10, 13, 10, 45, 45, 255])]);
const parts: RawPart[] = [
  ['name="language"', "en"],
  ['name="file"; filename="g\u00fcn \\"1\\".wav"\r\nContent-Type: audio/wav', file],
  ['name="timestamp_granularities[]"', "word"],
  ['name="timestamp_granularities[]"', "segment"],
  ['name="prompt"', ""],
  ['name="model"', "whisper-1"],
];
const whole = rawForm(boundary, parts);

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield await Promise.resolve(bytes.subarray(at, at + size));
    at += size;
  }
}

const read = (form: Buffer, sizes = [form.length], cap = Infinity): Promise<Upload> =>
  readUpload(cut(form, sizes), type, cap);

function facts({ file, fields, ...rest }: Upload): object {
  const bytes = Buffer.concat([...(file?.chunks ?? [])]);
  return {
    ...rest,
    fields: [...fields],
    file: file && { ...file, chunks: undefined },
    bytes: sha256(bytes),
  };
}

describe("a form", () => {
  test("is read with its fields before and after the file", async () => {
    assert.deepEqual(facts(await read(whole)), {
      bodyBytes: whole.length,
      isTooLarge: false,
      fields: [
        ["language", ["en"]],
        ["timestamp_granularities[]", ["word", "segment"]],
        ["prompt", [""]],
        ["model", ["whisper-1"]],
      ],
      file: {
        name: 'g\u00fcn "1".wav',
        type: "audio/wav",
        sizeBytes: file.length,
        sha256: sha256(file),
        chunks: undefined,
      },
      bytes: sha256(file),
    });
  });

  test("is the same however it is cut: 300 random chunkings, and byte by byte", async () => {
    const expected = facts(await read(whole));
    const sizes = array(oneof(integer({ min: 1, max: 40 }), integer({ min: 1, max: 5000 })), {
      minLength: 1,
      maxLength: 50,
    });
    await assertProperty(
      asyncProperty(sizes, async (given) => {
        assert.deepEqual(facts(await read(whole, given)), expected);
      }),
      { numRuns: 300 },
    );
    assert.deepEqual(facts(await read(whole, [1])), expected);
  });

  test("gets the same answer over the wire however it is cut", async (t) => {
    const sandbox = await start(t);
    const plainForm = rawForm(boundary, [
      ['name="file"; filename="a.wav"', speechWav],
      ['name="model"', "whisper-1"],
    ]);
    for (const sizes of [[plainForm.length], [1, 4000, 3], [997], [44, 2, 9000]]) {
      const response = await sendRaw(
        sandbox,
        boundary,
        ReadableStream.from(cut(plainForm, sizes)) as ReadableStream,
      );
      const said = (await response.json()) as { text: string };
      assert.equal(said.text, [sentence, sentence, sentence].join(" "));
    }
  });

  test("may have a preamble, an epilogue and padding after a boundary", async () => {
    const form = Buffer.from(
      `hello\r\n--${boundary} \t\r\ncontent-disposition: form-data; name=model\r\n\r\nwhisper-1\r\n--${boundary}--\r\nbye`,
    );
    const { fields, problem } = await read(form, [3]);
    assert.deepEqual([[...fields], problem], [[["model", ["whisper-1"]]], undefined]);
  });

  for (const [what, form] of [
    ["without its last boundary", whole.subarray(0, whole.length - 6)],
    ["with text after a boundary", Buffer.from(`--${boundary}x\r\n\r\n`)],
    ["with a part that has no name", Buffer.from(`--${boundary}\r\n\r\n\r\n--${boundary}--`)],
    [
      "with endless headers",
      Buffer.concat([Buffer.from(`--${boundary}\r\n`), Buffer.alloc(20_000, 65)]),
    ],
    ["with an endless field", rawForm(boundary, [['name="prompt"', Buffer.alloc(1_100_000, 65)]])],
  ] as const) {
    test(`${what} is a problem and keeps nothing`, async () => {
      const upload = await read(Buffer.from(form), [1000]);
      assert.equal(typeof upload.problem, "string");
      assert.deepEqual([upload.fields.size, upload.file], [0, undefined]);
    });
  }

  test("over the cap is counted to its end and not kept", async () => {
    const upload = await read(whole, [100], 500);
    assert.deepEqual(
      [upload.isTooLarge, upload.bodyBytes, upload.fields.size, upload.file],
      [true, whole.length, 0, undefined],
    );
    assert.equal((await read(whole, [100], whole.length)).isTooLarge, false);
  });

  test("needs a boundary in its content type, quoted or not", () => {
    assert.equal(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"'), "a b");
    assert.equal(boundaryOf("multipart/form-data; Boundary=ab; x=y"), "ab");
    assert.equal(boundaryOf("multipart/form-data"), undefined);
  });
});
