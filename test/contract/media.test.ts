import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { startJobs } from "../../src/worker.ts";
import { createTestUser } from "../helpers/app.ts";
import { mediaStage } from "../helpers/media.ts";
import type { MediaAnswer } from "../helpers/media.ts";

const stage = await mediaStage();
const { url, files, user, db } = stage;
const asUser = { "svc-api-key": user.key };
const png = await readFile(new URL("../../sandbox/files/picture.png", import.meta.url));

const get = async (path: string, init: RequestInit = {}): Promise<Response> =>
  await fetch(`${url}${path}`, { redirect: "manual", ...init });

async function stored(name: string): Promise<MediaAnswer> {
  const { status, body } = await stage.upload(`${files}/files/${name}`, {}, user);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

test("201 with a stable address, an id, what the bytes say, and their number", async () => {
  const media = await stored("picture.png");
  assert.match(media.id, /^[a-z0-9]{26}$/);
  assert.deepEqual(media, {
    url: `${stage.config.urls.base}/media/${media.id}.png`,
    id: media.id,
    contentType: "image/png",
    size: png.length,
  });
  const { rows } = await db.query(
    `select user_id, key_hash, url, content_type, object_path, checksum, length(download_token) > 20 as has_token,
       width, height from media where id = $1`,
    [media.id],
  );
  assert.deepEqual(rows, [
    {
      user_id: user.userId,
      key_hash: user.keyId,
      url: `${files}/files/picture.png`,
      content_type: "image/png",
      object_path: `${media.id.slice(0, 2)}/${media.id}`,
      checksum: hash("sha256", png),
      has_token: true,
      width: 64,
      height: 48,
    },
  ]);
});

test("what was stored is what is served, with the headers of the contract", async () => {
  const { id } = await stored("picture.png");
  for (const name of [`${id}.png`, id, `${id}.whatever`]) {
    const answer = await get(`/media/${name}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), png);
    assert.equal(answer.headers.get("content-type"), "image/png");
    assert.equal(answer.headers.get("accept-ranges"), "bytes");
    assert.equal(answer.headers.get("cache-control"), "public, max-age=3600");
    assert.equal(answer.headers.get("content-length"), String(png.length));
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.match(answer.headers.get("content-security-policy") ?? "", /sandbox/);
    assert.equal(answer.headers.get("content-disposition"), null);
  }
  const head = await get(`/media/${id}.png`, { method: "HEAD", headers: { range: "bytes=0-1" } });
  assert.deepEqual(
    [head.status, head.headers.get("content-length"), (await head.arrayBuffer()).byteLength],
    [200, String(png.length), 0],
  );
});

test("conditional requests: 304 for what the client has, the whole where If-Range does not fit", async () => {
  const { id } = await stored("picture.png");
  const first = await get(`/media/${id}`);
  await first.arrayBuffer();
  const etag = first.headers.get("etag") ?? "";
  const modified = first.headers.get("last-modified") ?? "";
  const status = async (headers: Record<string, string>): Promise<number> => {
    const answer = await get(`/media/${id}`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.match(etag, /^"[0-9a-f]{32}"$/);
  assert.equal(await status({ "if-none-match": etag }), 304);
  assert.equal(await status({ "if-none-match": `"x", W/${etag}` }), 304);
  assert.equal(await status({ "if-none-match": "*" }), 304);
  assert.equal(await status({ "if-none-match": '"x"', "if-modified-since": modified }), 200);
  assert.equal(await status({ "if-modified-since": modified }), 304);
  assert.equal(await status({ "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }), 200);
  const range = "bytes=0-9";
  assert.equal(await status({ range }), 206);
  assert.equal(await status({ range, "if-range": etag }), 206);
  assert.equal(await status({ range, "if-range": modified }), 206);
  assert.equal(await status({ range, "if-range": '"x"' }), 200);
  assert.equal(await status({ range, "if-range": `W/${etag}` }), 200);
  assert.equal(await status({ range, "if-range": "Thu, 01 Jan 1970 00:00:00 GMT" }), 200);
});

test("an unsatisfiable range is 416 and tells the length; several ranges get the whole", async () => {
  const { id } = await stored("picture.png");
  const none = await get(`/media/${id}`, { headers: { range: `bytes=${png.length}-` } });
  assert.equal(none.status, 416);
  assert.equal(none.headers.get("content-range"), `bytes */${png.length}`);
  const { error } = (await none.json()) as MediaAnswer;
  assert.deepEqual([error?.code, error?.requestId], ["range_not_satisfiable", undefined]);
  const several = await get(`/media/${id}`, { headers: { range: "bytes=0-1,4-5" } });
  assert.equal(several.status, 200);
  assert.deepEqual(Buffer.from(await several.arrayBuffer()), png);
});

test("404 not_found, without a request id, for whatever is no id of ours", async () => {
  const { id } = await stored("picture.png");
  const names = [
    "unknown0unknown0unknown0un",
    "short12",
    id.toUpperCase(),
    `${id}.tar.gz`,
    `${id}.`,
    `.${id}`,
    `${id}%00.png`,
    "..%2f..%2fetc%2fpasswd",
    `..%2f${id}`,
    `${id}%2f`,
    `${id}%20`,
    "a".repeat(400),
    `${id}.${"x".repeat(100)}`,
    "bench' or 1=1--",
  ];
  for (const name of names) {
    const answer = await get(`/media/${name}`);
    assert.equal(answer.status, 404, name);
    const { error } = (await answer.json()) as MediaAnswer;
    assert.deepEqual([error?.code, error?.requestId], ["not_found", undefined], name);
  }
});

test("405 method_not_allowed for anything but GET and HEAD", async () => {
  const { id } = await stored("picture.png");
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const answer = await get(`/media/${id}`, { method, ...(method === "POST" && { body: "x" }) });
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers.get("allow"), "GET, HEAD");
    const { error } = (await answer.json()) as MediaAnswer;
    assert.deepEqual([error?.code, error?.requestId], ["method_not_allowed", undefined]);
  }
});

test("what could run is sent as a download", async () => {
  for (const [name, type] of [
    ["script.svg", "image/svg+xml"],
    ["page.html", "text/html"],
  ] as const) {
    const { id } = await stored(name);
    const answer = await get(`/media/${id}`);
    await answer.arrayBuffer();
    assert.equal(answer.headers.get("content-type"), type);
    assert.equal(answer.headers.get("content-disposition"), "attachment");
  }
});

test("a record whose object or token is gone is not found", async () => {
  const { id } = await stored("note.txt");
  await db.query("update media set download_token = 'another' where id = $1", [id]);
  assert.equal((await get(`/media/${id}`)).status, 404);
});

test("the list is newest first, in pages, and only of what is one's own", async () => {
  const other = await createTestUser(db);
  const ids: string[] = [];
  for (const name of ["picture.gif", "clip.mp4", "tone.mp3"]) {
    ids.unshift((await stage.upload(`${files}/files/${name}`, {}, other)).body.id);
  }
  const headers = { "svc-api-key": other.key };
  const seen: string[] = [];
  for (let cursor = ""; ;) {
    const answer = await get(`/v1/media?limit=2${cursor}`, { headers });
    const page = (await answer.json()) as { media: { id: string }[]; next: string | null };
    seen.push(...page.media.map(({ id }) => id));
    if (page.next === null) break;
    cursor = `&cursor=${page.next}`;
  }
  assert.deepEqual(seen, ids);
  const video = await (await get(`/v1/media/${ids[1]}`, { headers })).json();
  assert.partialDeepStrictEqual(video, {
    contentType: "video/mp4",
    width: 64,
    height: 48,
    durationSeconds: 1,
  });
  assert.equal((await get(`/v1/media/${ids[1]}`, { headers: asUser })).status, 404);
  assert.equal(
    (await get(`/v1/media/${ids[1]}`, { method: "DELETE", headers: asUser })).status,
    404,
  );
});

test("a deleted file is gone at once, and its object a moment later", async () => {
  const { id } = await stored("picture.webp");
  assert.equal((await get(`/media/${id}`)).status, 200);
  const answer = await get(`/v1/media/${id}`, { method: "DELETE", headers: asUser });
  assert.deepEqual([answer.status, await answer.json()], [200, { deleted: true }]);
  assert.equal((await get(`/media/${id}`)).status, 404);
  assert.equal((await get(`/v1/media/${id}`, { method: "DELETE", headers: asUser })).status, 404);
  const worker = await startJobs(stage.deps);
  try {
    const deadline = Date.now() + 5_000;
    while ((await stage.leftovers()).length > 0) {
      assert.ok(Date.now() < deadline, "the object is still there");
      await new Promise(setImmediate);
    }
  } finally {
    await worker.stop();
  }
});

test("a file that a waiting post needs can't be deleted; once the post is canceled it can", async () => {
  const { id } = await stored("picture.jpg");
  const { rows } = await db.query<{ id: string }>(
    `insert into submissions (id, user_id, content, targets, due_at)
     values (gen_random_uuid(), $1, jsonb_build_object('mediaIds', jsonb_build_array($2::text, $2::text)), '[]', now() + interval '1 hour')
     returning id`,
    [user.userId, id],
  );
  const refused = await get(`/v1/media/${id}`, { method: "DELETE", headers: asUser });
  assert.equal(refused.status, 400);
  assert.equal(((await refused.json()) as MediaAnswer).error?.details?.[0]?.code, "in_use");
  assert.equal((await get(`/media/${id}`)).status, 200);
  await db.query("update submissions set status = 'canceled' where id = $1", [rows[0]?.id]);
  assert.equal((await get(`/v1/media/${id}`, { method: "DELETE", headers: asUser })).status, 200);
});

test("a post may name one's own media, and nobody else's", async () => {
  const mine = (await stored("picture.png")).id;
  const other = await createTestUser(db);
  const check = async (key: string, mediaIds: string[]): Promise<string[]> => {
    const answer = await get("/v1/posts/validate", {
      method: "POST",
      headers: { "svc-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ post: { content: { text: "x", platform: "linkedin", mediaIds } } }),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    const { problems } = (await answer.json()) as { problems: { field: string; code: string }[] };
    return problems.filter(({ code }) => code === "unknown_media").map(({ field }) => field);
  };
  assert.deepEqual(await check(user.key, [mine]), []);
  assert.deepEqual(await check(user.key, [mine, "nobodys0media"]), [
    "body.post.content.mediaIds.1",
  ]);
  assert.deepEqual(await check(other.key, [mine]), ["body.post.content.mediaIds.0"]);
});

test("the proxy has a limit of its own, by address", async () => {
  const limited = await mediaStage({ RATE_LIMIT_MEDIA_MAX: "3" });
  const statuses: number[] = [];
  for (let count = 0; count < 5; count++) {
    const answer = await fetch(`${limited.url}/media/unknown0unknown0`);
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  assert.deepEqual(statuses, [404, 404, 404, 429, 429]);
});

test("POST /v1/media is limited to 30 a minute per user", async () => {
  const eager = await createTestUser(db);
  const statuses = await Promise.all(
    Array.from({ length: 32 }, async () => (await stage.upload("nonsense", {}, eager)).status),
  );
  assert.equal(statuses.filter((status) => status === 429).length, 2);
});
