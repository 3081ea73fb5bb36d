import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { describe, test } from "node:test";
import type { Sandbox } from "../app.ts";
import { startSandbox } from "../app.ts";
import { addFault, endFaults, postJson, temporaryDir, until } from "../testing.ts";
import { body, calls, key, set, sha256, speechWav, start } from "./speech.testing.ts";
import { transcribe, transcriptions } from "./speech.testing.ts";

const fault = (sandbox: Sandbox, rule: object): Promise<void> =>
  addFault(sandbox, { service: "speech", operation: "speech.transcribe", times: 1, ...rule });

describe("the speech service", () => {
  const quota = {
    error: { message: "You exceeded your current quota", code: "insufficient_quota" },
  };
  const large = { error: { message: "413: Maximum content size limit", type: "server_error" } };
  const answers: [what: string, rule: object, status: number, body: unknown][] = [
    ["out of quota", { effect: "rate_limit", body: quota }, 429, quota],
    ["too large", { effect: "fail", status: 413, body: large }, 413, large],
    [
      "loading its model",
      { effect: "fail", status: 503, body: { status: "loading model" } },
      503,
      { status: "loading model" },
    ],
    [
      "failing once",
      { effect: "fail", body: { error: { message: "oops" } } },
      500,
      { error: { message: "oops" } },
    ],
  ];
  for (const [what, rule, status, expected] of answers) {
    test(`can be ${what}, and is well again after`, async (t) => {
      const sandbox = await start(t);
      await fault(sandbox, { phase: "before", ...rule });
      assert.deepEqual(await body(transcribe(sandbox), status), expected);
      await body(transcribe(sandbox));
      assert.equal(calls(sandbox, true).length, 1);
    });
  }

  test("says when to come back after 429", async (t) => {
    const sandbox = await start(t);
    await fault(sandbox, { phase: "before", effect: "rate_limit", retryAfter: "2" });
    const response = await transcribe(sandbox);
    assert.deepEqual([response.status, response.headers.get("retry-after")], [429, "2"]);
  });

  test("can answer with JSON that is cut off, having done the work", async (t) => {
    const sandbox = await start(t);
    await fault(sandbox, { phase: "after", effect: "fail", status: 200, body: '{"text":"The qui' });
    const response = await transcribe(sandbox);
    await assert.rejects(response.json(), SyntaxError);
    assert.equal(calls(sandbox, true).length, 1);
  });

  test("can reset the connection before and after it accepts", async (t) => {
    const sandbox = await start(t);
    for (const [phase, accepted] of [
      ["before", 0],
      ["after", 1],
    ] as const) {
      await fault(sandbox, { phase, effect: "reset" });
      await assert.rejects(transcribe(sandbox), TypeError);
      assert.equal(calls(sandbox, true).length, accepted);
    }
  });

  test("can hang until the caller gives up", async (t) => {
    const sandbox = await start(t);
    await fault(sandbox, { phase: "before", effect: "hang" });
    const caller = new AbortController();
    const call = transcribe(sandbox, { signal: caller.signal });
    await until("the call is held", () => calls(sandbox).length === 1);
    caller.abort();
    await assert.rejects(call, { name: "AbortError" });
    await endFaults(sandbox);
  });

  test("can fail for one file alone, known by its hash or name", async (t) => {
    const sandbox = await start(t);
    await fault(sandbox, { phase: "before", effect: "fail", body: {}, match: sha256(speechWav) });
    await body(transcribe(sandbox, { file: Buffer.concat([speechWav, Buffer.from("!")]) }));
    await body(transcribe(sandbox), 500);
    await fault(sandbox, { phase: "before", effect: "fail", body: {}, match: "bad.wav" });
    await body(transcribe(sandbox));
    await body(transcribe(sandbox, { name: "bad.wav" }), 500);
  });

  test("can be loading at its health check too", async (t) => {
    const sandbox = await start(t);
    const loading = { status: "loading model" };
    const rule = { phase: "before", effect: "fail", status: 503, body: loading };
    await fault(sandbox, { operation: "speech.health", ...rule });
    assert.deepEqual(await body(fetch(`${sandbox.url}/speech/health`), 503), loading);
    assert.deepEqual(await body(fetch(`${sandbox.url}/speech/health`)), { status: "ok" });
  });

  test("can lose the connection in the middle of an upload, as often as told", async (t) => {
    const sandbox = await start(t);
    await set(sandbox, { dropUpload: { afterBytes: 1000, times: 2 } });
    for (const _ of [1, 2]) {
      const upload = request(`${sandbox.url}/speech${transcriptions}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "multipart/form-data; boundary=edge",
        },
      });
      // Never ended: only a reset in the middle can end it.
      upload.write(Buffer.alloc(4000));
      const [error] = (await once(upload, "error")) as [NodeJS.ErrnoException];
      // A connection that was merely closed has the same code, but no system call behind it.
      assert.deepEqual([error.code, error.syscall], ["ECONNRESET", "read"]);
    }
    assert.deepEqual(
      calls(sandbox).map(({ accepted, notes }) => [accepted, notes[0]?.split(" after ")[0]]),
      [
        [false, "upload dropped"],
        [false, "upload dropped"],
      ],
    );
    await body(transcribe(sandbox));
  });

  test("can be slow", async (t) => {
    const sandbox = await start(t);
    await set(sandbox, { delayMs: 50 });
    const startedAt = performance.now();
    await body(transcribe(sandbox));
    assert.ok(performance.now() - startedAt >= 45);
  });
});

describe("the speech service's settings", () => {
  test("are shown, changed one by one, kept over a restart and put back", async (t) => {
    const dataDir = await temporaryDir(t);
    const transcripts = { [sha256(speechWav)]: { text: "Kept." } };
    const first = await startSandbox({ port: 0, dataDir });
    await set(first, { personality: "groq", transcripts });
    await set(first, { isHallucinating: true });
    await first.close();

    const sandbox = await startSandbox({ port: 0, dataDir });
    t.after(() => sandbox.close());
    const url = `${sandbox.url}/speech/_control`;
    const defaults = {
      personality: "openai",
      apiKey: key,
      delayMs: 0,
      isHallucinating: false,
      dropUpload: null,
      installedModels: ["Systran/faster-whisper-small"],
      transcripts: {},
    };
    assert.deepEqual(await body(fetch(url)), {
      ...defaults,
      personality: "groq",
      isHallucinating: true,
      transcripts,
    });
    assert.deepEqual(await body(fetch(url, { method: "DELETE" })), defaults);
    assert.deepEqual(await body(fetch(url)), defaults);
  });

  test("refuse what is misspelt", async (t) => {
    const sandbox = await start(t);
    const url = `${sandbox.url}/speech/_control`;
    for (const wrong of [
      { personality: "azure" },
      { delay: 1 },
      { transcripts: { abc: { text: "x" } } },
      { delayMs: -1 },
    ])
      await body(postJson(url, wrong), 400);
  });
});
