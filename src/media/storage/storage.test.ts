import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { startS3 } from "../../../test/helpers/s3.ts";
import { until } from "../../../test/helpers/until.ts";
import { ObjectMissing, createFileStorage, createS3Storage } from "./index.ts";
import type { PutOrder } from "./put.fixture.ts";
import {
  checksumOf,
  fileChecksum,
  newFile,
  newHollowFile,
  newPlace,
  putElsewhere,
  testFolder,
} from "./storage.testing.ts";
import type { Place, Storage } from "./storage.ts";

// What holds for every storage.

const megabyte = 1024 * 1024;
const bigBytes = process.env["HERALD_FULL"] === "1" ? 1024 * megabyte : 64 * megabyte;

interface Opened {
  kind: string;
  storage: Storage;
  order: Omit<PutOrder, "file">;
}

const dir = await testFolder();
const root = join(dir, "objects");
const { options, stop } = await startS3();
const opened: Opened[] = [
  { kind: "files", storage: createFileStorage({ root }), order: { root } },
  { kind: "S3", storage: createS3Storage(options), order: { s3: options } },
];
after(async () => {
  for (const { storage } of opened) await storage.close();
  await stop();
});

for (const { kind, storage, order } of opened) {
  describe(kind, () => {
    const stored = async (bytes: Buffer): Promise<Place> => {
      const place = newPlace();
      await storage.put(place, await newFile(dir, bytes));
      return place;
    };

    test("what was put is what is opened, and the source is gone", async () => {
      const bytes = randomBytes(100_000);
      const file = await newFile(dir, bytes);
      const place = newPlace();
      await storage.put(place, file);
      assert.deepEqual(await buffer(await storage.open(place)), bytes);
      assert.equal(existsSync(file.path), false);
    });

    test("a file of no bytes is an object of no bytes", async () => {
      const place = await stored(Buffer.alloc(0));
      assert.equal((await buffer(await storage.open(place))).length, 0);
    });

    test("20 MiB come back with the same checksum", async () => {
      const file = await newFile(dir, randomBytes(20 * megabyte));
      const checksum = await fileChecksum(file.path);
      const place = newPlace();
      await storage.put(place, file);
      assert.equal(await checksumOf(await storage.open(place)), checksum);
    });

    test("200 ranges are the same slices of the bytes", async () => {
      const bytes = randomBytes(3 * megabyte + 17);
      const last = bytes.length - 1;
      const place = await stored(bytes);
      const corners = [
        { start: 0, end: 0 },
        { start: last, end: last },
        { start: 0, end: last },
      ];
      const drawn = Array.from({ length: 200 }, () => {
        const start = randomInt(bytes.length);
        return { start, end: randomInt(start, bytes.length) };
      });
      for (const range of [...corners, ...drawn]) {
        const part = await buffer(await storage.open(place, range));
        const expected = bytes.subarray(range.start, range.end + 1);
        assert.ok(part.equals(expected), `${JSON.stringify(range)} gave ${part.length} bytes`);
      }
    });

    test("the path without its token opens and removes nothing", async () => {
      const place = await stored(Buffer.from("secret"));
      const guess = { ...place, downloadToken: `${place.downloadToken}x` };
      await assert.rejects(storage.open(guess), ObjectMissing);
      await storage.remove(guess);
      assert.equal(String(await buffer(await storage.open(place))), "secret");
    });

    test("an object that never was is missing", async () => {
      await assert.rejects(storage.open(newPlace()), ObjectMissing);
      await assert.rejects(storage.open(newPlace(), { start: 0, end: 9 }), ObjectMissing);
    });

    test("a removed object is missing, and removing it again is fine", async () => {
      const place = await stored(Buffer.from("short-lived"));
      await storage.remove(place);
      await assert.rejects(storage.open(place), ObjectMissing);
      await storage.remove(place);
    });

    test("a path that leads elsewhere is refused, and the source stays", async () => {
      const file = await newFile(dir, Buffer.from("stays"));
      const paths = [
        "../up",
        "a/../../up",
        "/rooted",
        "a//b",
        "a/",
        "",
        "A",
        "a.b",
        "a\0",
        "a\n",
        "a\\b",
        "%2e%2e",
      ];
      for (const objectPath of paths) {
        const place = { objectPath, downloadToken: "token" };
        for (const act of [storage.put(place, file), storage.open(place), storage.remove(place)])
          await assert.rejects(act, /^Error: Not an object path/, objectPath);
      }
      assert.ok(existsSync(file.path));
    });

    test("a source that is not there fails, and nothing is visible", async () => {
      const place = newPlace();
      const file = { path: join(dir, "nowhere"), sizeBytes: 9, contentType: "video/mp4" };
      await assert.rejects(storage.put(place, file), { code: "ENOENT" });
      await assert.rejects(storage.open(place), ObjectMissing);
    });

    const hasNoDescriptors =
      process.platform !== "linux" && "descriptors are counted on Linux only";
    test(
      "readers that go away half-way give their descriptors back",
      { skip: hasNoDescriptors },
      async () => {
        const count = async (): Promise<number> => (await readdir("/proc/self/fd")).length;
        const place = await stored(randomBytes(8 * megabyte));
        const atFirst = await count();
        const streams = await Promise.all(
          Array.from({ length: 20 }, async () => await storage.open(place)),
        );
        for (const stream of streams) await once(stream, "readable");
        assert.ok((await count()) >= atFirst + 15);
        for (const stream of streams) stream.destroy();
        await until(async () => (await count()) <= atFirst);
      },
    );

    test(`a file of ${bigBytes / megabyte} MiB takes less than 100 MB of memory`, async () => {
      const file = await newHollowFile(dir, bigBytes);
      const checksum = await fileChecksum(file.path);
      const report = await putElsewhere({ ...order, file });
      assert.equal(report.failure, null);
      assert.equal(report.checksum, checksum);
      assert.ok(report.grownBytes < 100_000_000, `it took ${report.grownBytes}`);
    });
  });
}
