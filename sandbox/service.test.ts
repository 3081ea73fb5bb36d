import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { startSandbox } from "./app.ts";
import { html, page } from "./html.ts";
import type { Service } from "./service.ts";
import { postJson, temporaryDir, testSandbox } from "./testing.ts";

const platform: Service = {
  name: "platform",
  basePath: "/platform",
  routes({ app, operation, read, collection, note }) {
    const posts = collection<{ text: string }>("posts");
    app.post(
      "/posts",
      operation("platform.post", (call) => {
        const text = call.form().get("text") ?? "";
        if (posts.get(text))
          return { accepted: false, status: 422, body: { message: "duplicate" } };
        posts.set(text, { text });
        return { accepted: true, status: 201, headers: { "x-restli-id": text }, remoteId: text };
      }),
    );
    app.get(
      "/posts/:id",
      read("platform.get", ({ params }) => ({ status: 200, body: posts.get(params["id"] ?? "") })),
    );
    app.put(
      "/upload",
      operation("platform.upload", ({ raw }) => ({ accepted: true, status: 201, body: raw })),
    );
    app.post(
      "/multipart",
      read("platform.multipart", async (call) => {
        const form = await call.multipart();
        const file = form.get("file");
        return {
          status: 200,
          body: { model: form.get("model"), sizeBytes: file instanceof File ? file.size : null },
        };
      }),
    );
    app.get(
      "/address",
      read("platform.address", ({ baseUrl, query }) => ({
        status: 200,
        body: { baseUrl, a: query.get("a") },
      })),
    );
    app.get(
      "/stream",
      read("platform.stream", () => ({ status: 200, body: Readable.from(["one ", "two"]) })),
    );
    app.get(
      "/consent",
      read("platform.consent", ({ query }) => page("Allow?", html`<p>${query.get("client")}</p>`)),
    );
    app.get("/plain", () => "not journaled");
    app.post(
      "/broken",
      operation("platform.broken", () => {
        throw new Error("a bug in the service");
      }),
    );
    app.post("/act", async () => {
      posts.set("acted", { text: "acted" });
      await note("platform.act", "on its own");
      return {};
    });
  },
};

const form = (text: string): RequestInit => ({
  method: "POST",
  body: new URLSearchParams({ text }),
});

describe("a service", () => {
  test("remembers over a restart what it accepted and what it did on its own", async (t) => {
    const dataDir = await temporaryDir(t);
    const first = await startSandbox({ port: 0, dataDir, services: [platform] });
    assert.equal(
      (await fetch(`${first.url}/platform/posts`, form("hello"))).headers.get("x-restli-id"),
      "hello",
    );
    await postJson(`${first.url}/platform/act`, {});
    await first.close();
    const second = await startSandbox({ port: 0, dataDir, services: [platform] });
    t.after(() => second.close());
    assert.equal((await fetch(`${second.url}/platform/posts`, form("hello"))).status, 422);
    assert.deepEqual(await (await fetch(`${second.url}/platform/posts/acted`)).json(), {
      text: "acted",
    });
    assert.deepEqual(
      second.journal
        .find()
        .entries.map(({ seq, operation, accepted, notes }) => [seq, operation, accepted, notes]),
      [
        [1, "platform.post", true, []],
        [2, "platform.act", false, ["on its own"]],
        [3, "platform.post", false, []],
        [4, "platform.get", false, ["read"]],
      ],
    );
  });

  test("of two equal posts at the same moment exactly one is accepted", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`${sandbox.url}/platform/posts`, form("x"))),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(sandbox.journal.find({ accepted: true }).entries.length, 1);
  });

  test("gets the exact bytes, and the journal their hash and size", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    const bytes = randomBytes(300_000);
    for (const type of ["application/octet-stream", "image/png", "application/json", undefined]) {
      const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
      const response = await fetch(`${sandbox.url}/platform/upload`, {
        method: "PUT",
        headers,
        body: bytes,
      });
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
    }
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    for (const { request } of sandbox.journal.find().entries) {
      assert.deepEqual(
        [request?.sha256, request?.sizeBytes, request?.body],
        [sha256, 300_000, undefined],
      );
    }
  });

  test("is journaled with method, path, telling headers and a short body as sent", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    const headers = {
      authorization: "Bearer t1",
      "idempotency-key": "k1",
      "content-type": "text/plain",
    };
    await fetch(`${sandbox.url}/platform/posts?v=1`, {
      method: "POST",
      headers,
      body: "text=a%20b",
    });
    const request = sandbox.journal.find().entries[0]?.request;
    assert.deepEqual(
      [request?.method, request?.path, request?.body],
      ["POST", "/platform/posts?v=1", "text=a%20b"],
    );
    assert.deepEqual(
      [request?.headers["authorization"], request?.headers["idempotency-key"]],
      ["Bearer t1", "k1"],
    );
  });

  test("reads multipart bodies", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    const body = new FormData();
    body.set("model", "whisper-1");
    body.set("file", new File([randomBytes(1000)], "a.mp3"));
    const response = await fetch(`${sandbox.url}/platform/multipart`, { method: "POST", body });
    assert.deepEqual(await response.json(), { model: "whisper-1", sizeBytes: 1000 });
  });

  test("knows its own address and the query", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    const response = await fetch(`${sandbox.url}/platform/address?a=1`);
    assert.deepEqual(await response.json(), { baseUrl: `${sandbox.url}/platform`, a: "1" });
  });

  test("streams, also when a fault makes it trickle", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    assert.equal(await (await fetch(`${sandbox.url}/platform/stream`)).text(), "one two");
    const rule = { service: "platform", effect: "trickle", phase: "after", bytes: 50, everyMs: 1 };
    await postJson(`${sandbox.url}/_sandbox/faults`, rule);
    assert.equal(await (await fetch(`${sandbox.url}/platform/stream`)).text(), "one two");
  });

  test("shows pages in which values are escaped", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    const response = await fetch(
      `${sandbox.url}/platform/consent?client=${encodeURIComponent("<b>&'\"")}`,
    );
    assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
    assert.match(await response.text(), /<p>&lt;b&gt;&amp;&#39;&quot;<\/p>/);
  });

  test("is not journaled on a bare route", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    assert.equal(await (await fetch(`${sandbox.url}/platform/plain`)).text(), "not journaled");
    assert.deepEqual(sandbox.journal.find().entries, []);
  });

  test("that throws answers 500 and leaves the error in the journal", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    assert.equal((await postJson(`${sandbox.url}/platform/broken`, {})).status, 500);
    const [entry] = sandbox.journal.find().entries;
    assert.equal(entry?.accepted, false);
    assert.match(entry?.notes[0] ?? "", /a bug in the service/);
  });

  test("journals calls to paths that it does not have", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    assert.equal((await postJson(`${sandbox.url}/platform/nowhere`, { a: 1 })).status, 404);
    const [entry] = sandbox.journal.find().entries;
    assert.deepEqual([entry?.operation, entry?.request?.body], ["platform.unknown", '{"a":1}']);
  });
});

test("a taken port is refused and leaves nothing open", async (t) => {
  const sandbox = await testSandbox(t);
  const port = Number(new URL(sandbox.url).port);
  await assert.rejects(startSandbox({ port, dataDir: await temporaryDir(t) }), {
    code: "EADDRINUSE",
  });
});
