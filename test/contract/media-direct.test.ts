import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { once } from "node:events";
import { test } from "node:test";
import { createTestUser } from "../helpers/app.ts";
import { mediaStage } from "../helpers/media.ts";
import type { MediaAnswer } from "../helpers/media.ts";

const stage = await mediaStage({ MEDIA_MAX_BYTES: "3000000" });
const { url, user, db } = stage;
const png = await readFile(new URL("../../sandbox/files/picture.png", import.meta.url));

interface Slot {
  uploadUrl: string;
  expiresAt: string;
  maxBytes: number;
}

async function openSlot(key = user.key, headers: Record<string, string> = {}): Promise<Slot> {
  const answer = await fetch(`${url}/v1/media/uploads`, {
    method: "POST",
    headers: { "svc-api-key": key, ...headers },
  });
  assert.equal(answer.status, 201);
  const slot = (await answer.json()) as Slot;
  // The app listens elsewhere than its public address says.
  return { ...slot, uploadUrl: slot.uploadUrl.replace(stage.config.urls.base, url) };
}

async function put(
  to: string,
  body: Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(to, { method: "PUT", body, headers, duplex: "half" });
  return { status: answer.status, body: (await answer.json()) as MediaAnswer };
}

test("bytes sent to an upload address are stored like those of a download", async () => {
  const slot = await openSlot();
  assert.equal(slot.maxBytes, 3_000_000);
  assert.ok(Date.parse(slot.expiresAt) > Date.now() + 3_500_000);
  const { status, body } = await put(slot.uploadUrl, png, { "content-type": "text/html" });
  assert.equal(status, 201);
  assert.deepEqual([body.contentType, body.size], ["image/png", png.length]);
  const served = await fetch(`${url}/media/${body.id}`);
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), png);
  const { rows } = await db.query("select user_id, key_hash, url from media where id = $1", [
    body.id,
  ]);
  assert.deepEqual(rows, [{ user_id: user.userId, key_hash: user.keyId, url: null }]);
});

test("an upload address works once, also when two come at the same time", async () => {
  const { uploadUrl } = await openSlot();
  const answers = await Promise.all([
    put(uploadUrl, png),
    put(uploadUrl, png),
    put(uploadUrl, png),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 404, 404]);
  assert.equal((await put(uploadUrl, png)).status, 404);
  assert.deepEqual(await stage.leftovers(), []);
});

test("a repeat of the request for an address gets the same address", async () => {
  const headers = { "idempotency-key": "slot-1" };
  assert.equal(
    (await openSlot(user.key, headers)).uploadUrl,
    (await openSlot(user.key, headers)).uploadUrl,
  );
});

test("404 for an address that is unknown or has expired", async () => {
  const { uploadUrl } = await openSlot();
  assert.equal((await put(`${url}/v1/media/uploads/nonsense`, png)).status, 404);
  await db.query("update media_uploads set expires_at = now() - interval '1 second'");
  assert.equal((await put(uploadUrl, png)).status, 404);
});

test("too many bytes are refused, declared or not, and nothing is left", async () => {
  const before = await stage.leftovers();
  const large = Buffer.alloc(3_000_001);
  const { uploadUrl } = await openSlot();
  assert.equal((await put(uploadUrl, large)).status, 413);
  const chunked = ReadableStream.from([large.subarray(0, 2_000_000), large.subarray(0, 2_000_000)]);
  const { status, body } = await put(uploadUrl, chunked);
  assert.deepEqual([status, body.error?.code], [400, "upload_failed"]);
  assert.equal((await put(uploadUrl, new Uint8Array(0))).body.error?.code, "upload_failed");
  assert.deepEqual(await stage.leftovers(), before);
  assert.equal((await put(uploadUrl, png)).status, 201, "the address can still be used");
});

test("a client that goes away half-way leaves nothing", async () => {
  const before = await stage.leftovers();
  const { uploadUrl } = await openSlot();
  const { hostname, port, pathname } = new URL(uploadUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(`PUT ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: 100000\r\n\r\n`);
  socket.write(Buffer.alloc(50_000));
  const arrived = Date.now() + 5_000;
  while ((await stage.leftovers()).length === before.length) {
    assert.ok(Date.now() < arrived, "the upload never began");
    await new Promise(setImmediate);
  }
  socket.destroy();
  const gone = Date.now() + 5_000;
  while ((await stage.leftovers()).length > before.length) {
    assert.ok(Date.now() < gone, "half a file was left");
    await new Promise(setImmediate);
  }
  assert.equal((await put(uploadUrl, png)).status, 201);
});

test("only a subscribed key gets an address", async () => {
  const { key } = await createTestUser(db, null);
  const answer = await fetch(`${url}/v1/media/uploads`, {
    method: "POST",
    headers: { "svc-api-key": key },
  });
  assert.equal(answer.status, 403);
});
