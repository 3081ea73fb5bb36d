import assert from "node:assert/strict";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { files } from "./file-host-files.ts";
import type { StoredFile } from "./file-host-files.ts";
import { getOverSocket } from "./file-host.testing.ts";
import { testSandbox } from "./testing.ts";

function stored(name: string): StoredFile {
  const file = files.get(name);
  assert.ok(file, name);
  return file;
}
async function getUndecoded(url: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { agent: false }, resolve).once("error", reject);
  return await promise;
}

const picture = stored("picture.png");
const total = picture.bytes.length;

describe("a host that lies about the file", () => {
  test("calls a page a picture, or what it is told", async (t) => {
    const { url } = await testSandbox(t);
    const response = await fetch(`${url}/filehost/wrong-type`);
    assert.equal(response.headers.get("content-type"), "image/png");
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), stored("page.html").bytes);
    const other = await fetch(`${url}/filehost/wrong-type?file=clip.mp4&type=text/plain`);
    assert.equal(other.headers.get("content-type"), "text/plain");
    assert.deepEqual(Buffer.from(await other.arrayBuffer()), stored("clip.mp4").bytes);
  });

  test("declares more than it sends, then closes", async (t) => {
    const { url } = await testSandbox(t);
    const answer = await getOverSocket(`${url}/filehost/length-too-large?by=7`);
    assert.equal(answer.headers["content-length"], String(total + 7));
    assert.deepEqual([answer.body, answer.end], [picture.bytes, "closed"]);
  });

  test("declares less than it sends, then closes", async (t) => {
    const { url } = await testSandbox(t);
    const answer = await getOverSocket(`${url}/filehost/length-too-small?by=7`);
    assert.equal(answer.headers["content-length"], String(total - 7));
    assert.deepEqual([answer.body, answer.end], [picture.bytes, "closed"]);
  });

  test("declares no length", async (t) => {
    const { url } = await testSandbox(t);
    const response = await fetch(`${url}/filehost/length-missing`);
    assert.equal(response.headers.get("content-length"), null);
    assert.equal(response.headers.get("transfer-encoding"), "chunked");
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), picture.bytes);
  });

  test("sends nothing as a picture", async (t) => {
    const { url } = await testSandbox(t);
    const response = await fetch(`${url}/filehost/empty`);
    assert.deepEqual([response.status, response.headers.get("content-length")], [200, "0"]);
    assert.equal(response.headers.get("content-type"), "image/png");
    assert.equal((await response.arrayBuffer()).byteLength, 0);
  });
});

describe("a host that compresses", () => {
  test("does so unasked", async (t) => {
    const { url } = await testSandbox(t);
    const { bytes } = stored("note.txt");
    const response = await getUndecoded(`${url}/filehost/gzip`);
    assert.equal(response.headers["content-encoding"], "gzip");
    assert.deepEqual(gunzipSync(await buffer(response)), bytes);
    assert.equal(await (await fetch(`${url}/filehost/gzip`)).text(), bytes.toString());
  });

  test("sends a thousandth of what unfolds", async (t) => {
    const { url } = await testSandbox(t);
    const sizeBytes = 20_000_000;
    const address = `${url}/filehost/gzip-bomb?size=${sizeBytes}`;
    assert.equal((await (await fetch(address)).arrayBuffer()).byteLength, sizeBytes);
    const response = await getUndecoded(address);
    assert.equal(response.headers["content-encoding"], "gzip");
    const wire = await buffer(response);
    assert.ok(wire.length < sizeBytes / 950, `${wire.length} bytes`);
  });
});

describe("a host that does not let go", () => {
  test("sends for as long as somebody reads", async (t) => {
    const { url } = await testSandbox(t);
    const answer = await getOverSocket(`${url}/filehost/endless`, 20_000_000);
    assert.equal(answer.headers["content-length"], undefined);
    assert.equal(answer.end, "left");
    assert.ok(answer.body.includes(picture.bytes));
  });

  test("sends a few bytes at a time", async (t) => {
    const { url } = await testSandbox(t);
    const startedAt = performance.now();
    const response = await fetch(`${url}/filehost/slow?file=note.txt&bytes=20&everyMs=30`);
    assert.equal(await response.text(), stored("note.txt").bytes.toString());
    const waits = Math.ceil(stored("note.txt").bytes.length / 20) - 1;
    assert.ok(performance.now() - startedAt >= waits * 29);
  });
});

describe("a host that lets go too soon", () => {
  for (const [address, end] of [
    ["cut-reset", "reset"],
    ["cut-close", "closed"],
  ] as const) {
    test(`${address}: half the file comes, then the connection is ${end}`, async (t) => {
      const sandbox = await testSandbox(t);
      const answer = await getOverSocket(`${sandbox.url}/filehost/${address}`);
      assert.equal(answer.headers["content-length"], String(total));
      assert.deepEqual(answer.body, picture.bytes.subarray(0, Math.floor(total / 2)));
      assert.equal(answer.end, end);
      const { entries } = sandbox.journal.find({ operation: `filehost.${address}` });
      assert.equal(entries.length, 1);
    });
  }

  test("breaks off after as many bytes as it is told", async (t) => {
    const { url } = await testSandbox(t);
    const answer = await getOverSocket(`${url}/filehost/cut-reset?file=tone.wav&after=9000`);
    assert.deepEqual(answer.body, stored("tone.wav").bytes.subarray(0, 9000));
  });
});

test("a trouble with a file that is not there is a plain 404, and with a bad number a 500", async (t) => {
  const { url } = await testSandbox(t);
  for (const trouble of ["slow", "cut-reset", "endless"]) {
    const response = await fetch(`${url}/filehost/${trouble}?file=none`);
    assert.equal(response.status, 404);
    assert.deepEqual(await response.json(), { error: "no such file" });
  }
  assert.equal((await fetch(`${url}/filehost/slow?bytes=few`)).status, 500);
});
