import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import sharp from "sharp";
import { createTestUser } from "../helpers/app.ts";
import { quote, templatesScene } from "../helpers/templates.ts";

const stage = await templatesScene();
const { app, db, user, render, bytesOf, assertNothingStored } = stage;

for (const [ratio, width, height] of [
  [undefined, 1080, 1080],
  ["1:1", 1080, 1080],
  ["4:5", 1080, 1350],
  ["9:16", 1080, 1920],
] as const) {
  test(`200: aspectRatio ${ratio} is a media record of ${width}x${height}`, async () => {
    const owner = await createTestUser(db);
    const { status, body } = await render(quote({}, ratio && { aspectRatio: ratio }), {
      user: owner,
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body, { url: `${stage.config.urls.base}/media/${body.id}.png`, id: body.id });
    const png = await bytesOf(body.id);
    const metadata = await sharp(png).metadata();
    assert.deepEqual([metadata.format, metadata.width, metadata.height], ["png", width, height]);
    const { rows } = await db.query(
      "select user_id, key_hash, content_type, width, height, checksum from media where id = $1",
      [body.id],
    );
    assert.deepEqual(rows, [
      {
        user_id: owner.userId,
        key_hash: owner.keyId,
        content_type: "image/png",
        width,
        height,
        checksum: hash("sha256", png),
      },
    ]);
  });
}

test("every template draws its example in every ratio, and is listed with schema and preview", async () => {
  const answer = await app.inject({ url: "/v1/templates", headers: { "svc-api-key": user.key } });
  const { templates } = answer.json<{
    templates: {
      slug: string;
      aspectRatios: string[];
      example: object;
      preview: string;
      config: { type: string; additionalProperties: boolean; properties: object };
    }[];
  }>();
  assert.ok(templates.length >= 11);
  for (const { slug, aspectRatios, config, example, preview } of templates) {
    assert.deepEqual(aspectRatios, ["1:1", "4:5", "9:16"]);
    assert.deepEqual([config.type, config.additionalProperties], ["object", false]);
    for (const key of Object.keys(example)) assert.ok(key in config.properties, `${slug} ${key}`);
    for (const aspectRatio of aspectRatios) {
      const { status } = await render({ templateSlug: slug, config: example, aspectRatio });
      assert.equal(status, 200, `${slug} ${aspectRatio}`);
    }
    assert.equal(preview, `${stage.config.urls.base}/templates/${slug}.png`);
    const picture = await app.inject({ url: `/templates/${slug}.png` });
    assert.equal(picture.statusCode, 200, slug);
    assert.equal(picture.headers["content-type"], "image/png");
    assert.equal(picture.headers["cache-control"], "public, max-age=3600");
    assert.equal((await sharp(picture.rawPayload).metadata()).width, 1080);
    const again = await app.inject({
      url: `/templates/${slug}.png`,
      headers: { "if-none-match": String(picture.headers["etag"]) },
    });
    assert.deepEqual([again.statusCode, again.rawPayload.length], [304, 0]);
  }
});

test("404 for the preview of an unknown template", async () => {
  assert.equal((await app.inject({ url: "/templates/nothing.png" })).statusCode, 404);
});

test("404 not_found for an unknown slug, and details list the valid ones", async () => {
  const { status, body } = await render({ templateSlug: "nothing" });
  assert.deepEqual([status, body.error?.code], [404, "not_found"]);
  assert.match(body.error?.details?.[0]?.message ?? "", /quote, headline/);
});

test("401 without a key", async () => {
  const answer = await app.inject({ method: "POST", url: "/v1/templates", payload: quote() });
  assert.equal(answer.statusCode, 401);
});

test("403 without a subscription", async () => {
  const { status } = await render(quote(), { user: await createTestUser(db, null) });
  assert.equal(status, 403);
});

const refused: [name: string, payload: object, field: string, code: string][] = [
  ["no slug", {}, "body.templateSlug", "invalid_type"],
  ["a ratio of 16:9", quote({}, { aspectRatio: "16:9" }), "body.aspectRatio", "invalid_enum_value"],
  ["an unknown field", quote({}, { aspect: "1:1" }), "body.aspect", "unrecognized_keys"],
  ["config as a text", quote({}, { config: "x" }), "body.config", "invalid_type"],
  ["an unknown key", quote({ qoute: "x" }), "body.config.qoute", "unrecognized_keys"],
  ["a wrong type", quote({ quote: 7 }), "body.config.quote", "invalid_type"],
  ["a wrong colour", quote({ textColor: "red" }), "body.config.textColor", "invalid_string"],
  ["100,000 characters", quote({ quote: "a".repeat(100_000) }), "body.config.quote", "too_big"],
  ["cuneiform", quote({ quote: "a\u{12000}" }), "body.config.quote", "unsupported_character"],
  [
    "an emoji of tomorrow",
    quote({ quote: "\u{1FAE9}" }),
    "body.config.quote",
    "unsupported_character",
  ],
];
for (const [name, payload, field, code] of refused) {
  test(`400 at ${field} for ${name}, and nothing is stored`, async () => {
    const owner = await createTestUser(db);
    const { status, body } = await render(payload, { user: owner });
    assert.deepEqual([status, body.error?.code], [400, "validation_error"], JSON.stringify(body));
    const { details = [] } = body.error ?? {};
    assert.ok(
      details.some((each) => each.field === field && each.code === code),
      JSON.stringify(details),
    );
    await assertNothingStored(owner);
  });
}

test("the characters that can't be drawn are named", async () => {
  const { body } = await render(quote({ quote: "ok \u{12000} ᚠ" }));
  assert.match(body.error?.details?.[0]?.message ?? "", /U\+12000.*ᚠ \(U\+16A0\)/u);
});

test("the same input gives the same file, 20 times faster; another input, ratio or user another", async () => {
  const photo = sharp({
    create: {
      width: 2_000,
      height: 2_000,
      channels: 3,
      background: "red",
      noise: { type: "gaussian", mean: 120, sigma: 60 },
    },
  });
  const backgroundImage = await stage.put(await photo.jpeg().toBuffer());
  const input = quote({ backgroundImage }, { aspectRatio: "9:16" });
  const time = async (payload: object) => {
    const startedAt = performance.now();
    const { body } = await render(payload, { user });
    return { id: body.id, ms: performance.now() - startedAt };
  };
  await time({ ...input, aspectRatio: "4:5" });
  const first = await time(input);
  const again = [await time(input), await time(input), await time(input), await time(input)];
  assert.deepEqual(new Set(again.map(({ id }) => id)), new Set([first.id]));
  const best = Math.min(...again.map(({ ms }) => ms));
  assert.ok(first.ms > best * 20, `${first.ms} ms drawn, ${best} ms from the record`);
  const owner = await createTestUser(db);
  const others = [
    await render(quote(), { user: owner }),
    await render(quote({}, { aspectRatio: "4:5" }), { user: owner }),
    await render(quote({ quote: "Another" }), { user: owner }),
    await render(quote()),
  ];
  assert.equal(new Set([first.id, ...others.map(({ body }) => body.id)]).size, 5);
  const keyOrder = { config: { author: "A", quote: "Q" }, templateSlug: "quote" };
  const [one, two] = [
    await render(keyOrder, { user: owner }),
    await render(
      { templateSlug: "quote", config: { quote: "Q", author: "A" }, aspectRatio: "1:1" },
      { user: owner },
    ),
  ];
  assert.equal(one.body.id, two.body.id);
});

test("ten at once for the same input get the same file, and one is stored", async () => {
  const owner = await createTestUser(db);
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => await render(quote(), { user: owner })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  const { rowCount } = await db.query("select from media where user_id = $1", [owner.userId]);
  assert.equal(rowCount, 1);
  assert.deepEqual(await stage.leftovers(), []);
});

test("the same key with the same body is answered again, with another body 409", async () => {
  const request = { user: await createTestUser(db), headers: { "idempotency-key": "once" } };
  const [first, second] = [await render(quote(), request), await render(quote(), request)];
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers["idempotency-replayed"], "true");
  const other = await render(quote({ quote: "Other" }), request);
  assert.deepEqual([other.status, other.body.error?.code], [409, "idempotency_conflict"]);
});

test("20 a minute on each of the two routes, on its own", async () => {
  const owner = await createTestUser(db);
  for (const path of ["/v1/templates", "/v1/media/render-og"]) {
    const statuses = [];
    for (let count = 0; count < 21; count++)
      statuses.push((await render(quote(), { user: owner, path })).status);
    assert.deepEqual(statuses, [...Array.from({ length: 20 }, () => 200), 429], path);
  }
});

test("the id is a mediaId: it reads as media, and names a picture for another", async () => {
  const { body } = await render(quote(), { user });
  const headers = { "svc-api-key": user.key };
  const read = await app.inject({ url: `/v1/media/${body.id}`, headers });
  const { url, contentType, width } = read.json<Record<string, unknown>>();
  assert.deepEqual([url, contentType, width], [body.url, "image/png", 1080]);
  const other = await render(quote({ backgroundImage: body.id }), { user });
  assert.equal(other.status, 200);
  assert.notEqual(other.body.id, body.id);
});

test("503 with Retry-After once a hundred wait to be drawn", async () => {
  const count = 120 + 8 * availableParallelism();
  const users = await Promise.all(Array.from({ length: count }, () => createTestUser(db)));
  const story = quote({}, { aspectRatio: "9:16" });
  const answers = await Promise.all(users.map(async (each) => await render(story, { user: each })));
  const turnedAway = answers.filter(({ status }) => status === 503);
  assert.ok(answers.every(({ status }) => status === 200 || status === 503));
  for (const { body, headers } of turnedAway)
    assert.deepEqual([body.error?.code, headers["retry-after"]], ["service_unavailable", "5"]);
  assert.ok(turnedAway.length > 0);
});

// Last, since the object goes by a job, and nobody works here.
test("a picture whose file was deleted is drawn anew", async () => {
  const owner = await createTestUser(db);
  const first = await render(quote(), { user: owner });
  const png = await bytesOf(first.body.id);
  const headers = { "svc-api-key": owner.key };
  const url = `/v1/media/${first.body.id}`;
  assert.equal((await app.inject({ method: "DELETE", url, headers })).statusCode, 200);
  const second = await render(quote(), { user: owner });
  assert.notEqual(second.body.id, first.body.id);
  assert.ok((await bytesOf(second.body.id)).equals(png));
});
