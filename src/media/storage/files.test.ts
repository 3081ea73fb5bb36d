import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ObjectMissing, createFileStorage } from "./index.ts";
import {
  diskIsMissing,
  fileChecksum,
  newFile,
  newPlace,
  putOnSmallDisk,
  testFolder,
} from "./storage.testing.ts";
import { keyOf } from "./storage.ts";

const megabyte = 1024 * 1024;
const skip = await diskIsMissing();

const dir = await testFolder();
const root = join(dir, "objects");
await mkdir(root);

test("a file from another disk is stored whole, and the source is gone", { skip }, async () => {
  const file = await newFile(dir, randomBytes(4 * megabyte));
  const checksum = await fileChecksum(file.path);
  const report = await putOnSmallDisk({ file, root }, 16);
  assert.equal(report.failure, null);
  assert.equal(report.checksum, checksum);
  assert.equal(report.isSourceThere, false);
  assert.equal(report.files.length, 1);
});

test(
  "a full disk fails the put, keeps the source and leaves nothing behind",
  { skip },
  async () => {
    const file = await newFile(dir, randomBytes(4 * megabyte));
    const report = await putOnSmallDisk({ file, root }, 2);
    assert.equal(report.failure, "ENOSPC");
    assert.equal(report.isSourceThere, true);
    assert.deepEqual(report.files, []);
  },
);

test("a put that can't be finished keeps the source", async () => {
  const storage = createFileStorage({ root });
  const bytes = randomBytes(1_000);
  const file = await newFile(dir, bytes);
  const place = newPlace();
  await mkdir(join(root, keyOf(place)), { recursive: true });
  await assert.rejects(storage.put(place, file), { code: "EISDIR" });
  assert.deepEqual(await readFile(file.path), bytes);
});

test("a root that can't be written to fails the put and keeps the source", async () => {
  const file = await newFile(dir, Buffer.from("bytes"));
  const blocked = await newFile(dir, Buffer.from("not a folder"));
  await assert.rejects(createFileStorage({ root: blocked.path }).put(newPlace(), file));
  assert.ok(existsSync(file.path));
});

test("removing an object removes what a crash left of its copy", async () => {
  const storage = createFileStorage({ root });
  const place = newPlace();
  const part = join(root, `${keyOf(place)}.part`);
  await mkdir(join(part, ".."), { recursive: true });
  await writeFile(part, "half");
  await assert.rejects(storage.open(place), ObjectMissing);
  await storage.remove(place);
  assert.equal(existsSync(part), false);
});

test("the internal path is where the file is below the root", async () => {
  const storage = createFileStorage({ root });
  const place = newPlace();
  await storage.put(place, await newFile(dir, Buffer.from("for the web server")));
  const path = storage.internalPath?.(place) ?? "";
  assert.match(path, new RegExp(`^${place.objectPath}\\.[0-9a-f]{32}$`));
  assert.equal(await readFile(join(root, path), "utf8"), "for the web server");
  assert.equal((await readdir(join(root, path, ".."))).length, 1);
});
