import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { startS3 } from "../../../test/helpers/s3.ts";
import { until } from "../../../test/helpers/until.ts";
import { ObjectMissing, createS3Storage } from "./index.ts";
import { newFile, newHollowFile, newPlace, testFolder } from "./storage.testing.ts";

const megabyte = 1024 * 1024;

const dir = await testFolder();
const server = await startS3();
const storage = createS3Storage(server.options);
after(async () => {
  await storage.close();
  await server.stop();
});

test("a signed address serves the bytes with the headers it was signed for", async () => {
  const bytes = randomBytes(10_000);
  const place = newPlace();
  await storage.put(place, await newFile(dir, bytes));
  const url = await storage.signedUrl?.(place, {
    expiresSeconds: 300,
    contentType: "image/png",
    cacheControl: "public, max-age=3600",
    contentDisposition: "attachment",
  });
  assert.ok(url);
  assert.equal(new URL(url).searchParams.get("X-Amz-Expires"), "300");
  const answer = await fetch(url, { headers: { range: "bytes=5-99" } });
  assert.equal(answer.status, 206);
  assert.equal(answer.headers.get("content-type"), "image/png");
  assert.equal(answer.headers.get("cache-control"), "public, max-age=3600");
  assert.equal(answer.headers.get("content-disposition"), "attachment");
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes.subarray(5, 100));
});

test("a signed address that was changed is refused", async () => {
  const place = newPlace();
  await storage.put(place, await newFile(dir, Buffer.from("bytes")));
  const options = { expiresSeconds: 300, contentType: "image/png", cacheControl: "no-store" };
  const url = new URL((await storage.signedUrl?.(place, options)) ?? "");
  url.searchParams.set("X-Amz-Expires", "3000");
  const answer = await fetch(url);
  assert.equal(answer.status, 403);
  await answer.body?.cancel();
});

test("a wrong secret and a wrong bucket are errors, not missing objects", async () => {
  for (const wrong of [{ secretAccessKey: "guess" }, { bucket: "elsewhere" }]) {
    const other = createS3Storage({ ...server.options, ...wrong });
    await assert.rejects(other.open(newPlace()), (error) => !(error instanceof ObjectMissing));
    await other.close();
  }
});

test("an upload of which a part is refused leaves no part behind, and keeps the source", async (t) => {
  const failing = await startS3();
  t.after(failing.stop);
  await failing.refuseParts();
  const other = createS3Storage(failing.options);
  const file = await newFile(dir, randomBytes(20 * megabyte));
  const place = newPlace();
  await assert.rejects(other.put(place, file), { name: "InternalError" });
  assert.deepEqual(await failing.parts(), []);
  await assert.rejects(other.open(place), ObjectMissing);
  assert.ok(existsSync(file.path));
  await other.close();
});

test("a server that dies during an upload keeps the source and shows nothing when it is back", async (t) => {
  const dying = await startS3();
  t.after(dying.stop);
  const other = createS3Storage(dying.options);
  const file = await newHollowFile(dir, 512 * megabyte);
  const place = newPlace();
  const put = assert.rejects(other.put(place, file));
  await until(async () => (await dying.parts()).length > 0);
  await dying.kill();
  await put;
  assert.ok(existsSync(file.path));
  await other.close();
  const revived = await dying.revive();
  t.after(revived.stop);
  const later = createS3Storage(revived.options);
  await assert.rejects(later.open(place), ObjectMissing);
  await later.close();
});
