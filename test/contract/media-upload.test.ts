import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { createTestUser } from "../helpers/app.ts";
import { mediaStage } from "../helpers/media.ts";

const stage = await mediaStage({ MEDIA_MAX_BYTES: "1000000", MEDIA_DOWNLOAD_SECONDS: "2" });
const { files, db } = stage;
const descriptors = (): number => readdirSync("/proc/self/fd").length;

for (const [name, type] of Object.entries({
  "picture.png": "image/png",
  "picture.jpg": "image/jpeg",
  "picture.gif": "image/gif",
  "picture.webp": "image/webp",
  "drawing.svg": "image/svg+xml",
  "document.pdf": "application/pdf",
  "note.txt": "text/plain",
  "page.html": "text/html",
  "clip.mp4": "video/mp4",
  "clip.mov": "video/quicktime",
  "clip.webm": "video/webm",
  "tone.mp3": "audio/mpeg",
  "tone.wav": "audio/wav",
  "tone.ogg": "audio/ogg",
  "tone.flac": "audio/flac",
})) {
  test(`${name} is stored as ${type}`, async () => {
    const { status, body } = await stage.upload(`${files}/files/${name}`);
    assert.deepEqual([status, body.contentType], [201, type]);
  });
}

test("the type is what the bytes say, not what the server says", async () => {
  const { body } = await stage.upload(`${files}/wrong-type?type=image/png`);
  assert.equal(body.contentType, "text/html");
});

for (const path of [
  "length-missing",
  "gzip",
  "redirect/hops/5",
  "redirect/relative",
  "redirect/hops/3?status=307",
  "redirect/refresh",
]) {
  test(`${path} is fetched`, async () => {
    const { status, body } = await stage.upload(`${files}/${path}`);
    assert.equal(status, 201, JSON.stringify(body));
  });
}

const failures: [address: string, reason: RegExp][] = [
  [`${files}/endless`, /larger than 1000000 bytes/],
  [`${files}/bytes/1000001`, /larger than 1000000 bytes/],
  [`${files}/gzip-bomb?size=50000000`, /larger than 1000000 bytes/],
  [`${files}/empty`, /empty/],
  [`${files}/cut-reset`, /downloaded/],
  [`${files}/cut-close`, /downloaded/],
  [`${files}/length-too-large`, /downloaded/],
  [`${files}/slow?everyMs=100`, /downloaded/],
  [`${files}/redirect/hops/6`, /redirect/],
  [`${files}/redirect/loop`, /redirect/],
  [`${files}/redirect/no-location`, /downloaded/],
  [`${files}/redirect/to?to=file:///etc/passwd`, /downloaded/],
  [`${files}/files/unknown.png`, /404/],
  ["file:///etc/passwd", /downloaded/],
  ["gopher://files.example/1", /downloaded/],
  ["data:text/plain,hello", /downloaded/],
  ["http://user:word@files.example/", /downloaded/],
  ["http://127.0.0.1:1/", /downloaded/],
];
for (const [address, reason] of failures) {
  test(`${address.replace(files, "")} is upload_failed with a reason, and nothing is left`, async () => {
    const { status, body } = await stage.upload(address);
    assert.equal(status, 400, JSON.stringify(body));
    assert.equal(body.error?.code, "upload_failed");
    assert.match(body.error?.message ?? "", reason);
    assert.deepEqual(await stage.leftovers(), []);
  });
}

for (const address of ["", "no address", "http://", "x".repeat(5_000), "//files.example/a"]) {
  test(`"${address.slice(0, 20)}" is no URL: validation_error`, async () => {
    const { status, body } = await stage.upload(address);
    assert.deepEqual([status, body.error?.code], [400, "validation_error"]);
  });
}

test("200 endless downloads are cut at the cap, and no descriptor stays open", async () => {
  const users = await Promise.all(Array.from({ length: 200 }, () => createTestUser(db)));
  // Without sockets of its own.
  const upload = async ({ key }: { key: string }) =>
    await stage.app.inject({
      method: "POST",
      url: "/v1/media",
      headers: { "svc-api-key": key },
      payload: { url: `${files}/endless` },
    });
  const before = descriptors();
  const answers = await Promise.all(users.map(upload));
  // On a busy machine some wait too long for the database; none gets through.
  const codes = answers.map((answer) => String(answer.json().error.code));
  assert.deepEqual([...new Set(codes)].toSorted().at(-1), "upload_failed", codes.join(" "));
  assert.ok(codes.every((code) => code === "upload_failed" || code === "service_unavailable"));
  assert.deepEqual(await stage.leftovers(), []);
  const deadline = Date.now() + 10_000;
  while (descriptors() > before + 20) {
    assert.ok(Date.now() < deadline, `${descriptors()} descriptors, ${before} before`);
    await new Promise(setImmediate);
  }
});

test("100 slow hosts do not delay another download", async () => {
  const patient = await mediaStage({ MEDIA_DOWNLOAD_SECONDS: "8" });
  let areSlowDone = false;
  const slow = Promise.all(
    Array.from({ length: 100 }, () => patient.upload(`${patient.files}/slow?everyMs=100`)),
  ).then((answers) => {
    areSlowDone = true;
    return answers;
  });
  assert.equal((await patient.upload(`${patient.files}/files/picture.png`)).status, 201);
  assert.equal(areSlowDone, false);
  assert.ok((await slow).every(({ status }) => status === 400));
});

test("50 parallel calls with one key store one file, and all get the same answer", async () => {
  const user = await createTestUser(db);
  const key = { "idempotency-key": "once" };
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => stage.upload(`${files}/files/clip.mp4`, key, user)),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  const { rowCount } = await db.query("select from media where user_id = $1", [user.userId]);
  assert.equal(rowCount, 1);
  const other = await stage.upload(`${files}/files/clip.mov`, key, user);
  assert.deepEqual([other.status, other.body.error?.code], [409, "idempotency_conflict"]);
});

test("a failed upload may be repeated with its key", async () => {
  const user = await createTestUser(db);
  const key = { "idempotency-key": "again" };
  assert.equal((await stage.upload(`${files}/empty`, key, user)).status, 400);
  const { status } = await stage.upload(`${files}/empty`, key, user);
  assert.equal(status, 400);
  assert.equal((await stage.upload(`${files}/files/note.txt`, key, user)).status, 201);
});

test("a key whose process died is taken over when its lease runs out", async () => {
  const user = await createTestUser(db);
  const key = { "idempotency-key": "dead" };
  assert.equal((await stage.upload(`${files}/files/note.txt`, key, user)).status, 201);
  // As a process leaves it that dies half-way.
  await db.query(
    `update idempotency_records set answer = null, status = null, holder = gen_random_uuid(), leased_until = now()
     where user_id = $1`,
    [user.userId],
  );
  assert.equal((await stage.upload(`${files}/files/note.txt`, key, user)).status, 201);
});
