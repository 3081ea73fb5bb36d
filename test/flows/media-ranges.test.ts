import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { createRandom } from "../chaos/random.ts";
import { mediaStage } from "../helpers/media.ts";
import type { MediaStage } from "../helpers/media.ts";
import { startS3 } from "../helpers/s3.ts";

const perStore = process.env["HERALD_FULL"] === "1" ? 2_000 : 400;
const seed = randomInt(2 ** 31);

/** A range header of any kind, and the slice that RFC 9110 gives for it; null: the whole. */
function draw(random: () => number, bytes: Buffer): { range: string; slice: Buffer | null } {
  const size = bytes.length;
  const at = (): number => Math.floor(random() * size * 1.2);
  const kind = Math.floor(random() * 6);
  if (kind === 0) {
    const length = at();
    return { range: `bytes=-${length}`, slice: bytes.subarray(Math.max(0, size - length)) };
  }
  if (kind === 1) {
    const start = at();
    return { range: `bytes=${start}-`, slice: bytes.subarray(start) };
  }
  const [first, last] = [at(), at()];
  if (kind === 2) return { range: `bytes=${first}-${first},${last}-`, slice: null };
  if (last < first) return { range: `bytes=${first}-${last}`, slice: null };
  return { range: `bytes=${first}-${last}`, slice: bytes.subarray(first, last + 1) };
}

async function compare(stage: MediaStage): Promise<void> {
  const random = createRandom(seed);
  const objects = await Promise.all(
    [1, 50_000, 256 * 1_024 + 1, 3_000_000].map(async (size) => {
      const bytes = randomBytes(size);
      return { bytes, id: await stage.put(bytes) };
    }),
  );
  const one = async (index: number): Promise<void> => {
    const { bytes, id } = objects[index % objects.length] ?? assert.fail();
    const { range, slice } = draw(random, bytes);
    const answer = await fetch(`${stage.url}/media/${id}`, { headers: { range } });
    const body = Buffer.from(await answer.arrayBuffer());
    const told = `${range} of ${bytes.length}, seed ${seed}`;
    if (slice === null) {
      assert.equal(answer.status, 200, told);
      assert.ok(body.equals(bytes), told);
    } else if (slice.length === 0) {
      assert.equal(answer.status, 416, told);
      assert.equal(answer.headers.get("content-range"), `bytes */${bytes.length}`, told);
    } else {
      assert.equal(answer.status, 206, told);
      assert.ok(body.equals(slice), told);
      const start = slice.byteOffset - bytes.byteOffset;
      const expected = `bytes ${start}-${start + slice.length - 1}/${bytes.length}`;
      assert.equal(answer.headers.get("content-range"), expected, told);
    }
  };
  for (let index = 0; index < perStore; index += 20)
    await Promise.all(Array.from({ length: 20 }, async (_, offset) => await one(index + offset)));
}

describe("ranges through the proxy", () => {
  let s3: Awaited<ReturnType<typeof startS3>>;
  before(async () => {
    s3 = await startS3();
  });
  after(async () => await s3.stop());

  test(`${perStore} random ranges are the same as slices, on files`, async () => {
    await compare(await mediaStage());
  });

  test(`${perStore} random ranges are the same as slices, on S3`, async () => {
    await compare(await mediaStage(s3.settings));
  });

  test("MEDIA_DELIVERY=redirect sends the client to a signed address, which serves the file as ours would", async () => {
    const stage = await mediaStage({ ...s3.settings, MEDIA_DELIVERY: "redirect" });
    const bytes = randomBytes(1_000);
    const id = await stage.put(bytes);
    const redirect = await fetch(`${stage.url}/media/${id}`, { redirect: "manual" });
    assert.equal(redirect.status, 302);
    assert.match(redirect.headers.get("cache-control") ?? "", /^private, max-age=240$/);
    const location = redirect.headers.get("location") ?? "";
    const answer = await fetch(location, { headers: { range: "bytes=10-19" } });
    assert.equal(answer.status, 206);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes.subarray(10, 20));
    assert.equal(answer.headers.get("content-type"), "application/octet-stream");
    assert.equal((await fetch(location.replace(/Signature=\w+/, "Signature=0"))).status, 403);
  });
});
