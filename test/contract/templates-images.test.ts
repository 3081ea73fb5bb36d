import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import sharp from "sharp";
import { createTestUser } from "../helpers/app.ts";
import { quote, templatesScene } from "../helpers/templates.ts";

const stage = await templatesScene();
const { db, files, user, render, assertNothingStored } = stage;

const hugePng = await sharp({
  create: { width: 8_000, height: 6_000, channels: 3, background: "red" },
})
  .png()
  .toBuffer();
const cutPng = hugePng.subarray(0, 60_000);

const badImages: [address: string, reason: RegExp][] = [
  [`${files}/files/drawing.svg`, /no picture/],
  [`${files}/files/script.svg`, /no picture/],
  [`${files}/files/page.html`, /no picture/],
  [`${files}/wrong-type?type=image/png`, /no picture/],
  [`${files}/files/clip.mp4`, /no picture/],
  [`${files}/bytes/100`, /no picture/],
  [`${files}/empty`, /no picture/],
  [`${files}/bytes/30000000`, /larger than 20971520 bytes/],
  [`${files}/endless`, /larger than 20971520 bytes|downloaded/],
  [`${files}/gzip-bomb?size=50000000`, /larger than 20971520 bytes/],
  [`${files}/slow?everyMs=100`, /downloaded/],
  [`${files}/cut-reset`, /downloaded/],
  [`${files}/files/unknown.png`, /404/],
  [`${files}/redirect/to?to=http://127.0.0.1:1/a.png`, /downloaded/],
  ["http://127.0.0.1:1/a.png", /downloaded/],
  ["http://10.0.0.1/a.png", /downloaded/],
  ["http://169.254.169.254/latest/meta-data", /downloaded/],
  ["http://[::1]/a.png", /downloaded/],
  ["file:///etc/passwd", /http or https/],
  ["data:image/png;base64,AAAA", /http or https/],
  ["picture.png", /http or https/],
  ["unknown0unknown0unknown0un", /no such media/],
];
for (const [address, reason] of badImages) {
  test(`400 at the key for ${address.replace(files, "")}, and nothing is stored`, async () => {
    const owner = await createTestUser(db);
    const { status, body } = await render(quote({ logo: address }), { user: owner });
    assert.deepEqual([status, body.error?.code], [400, "validation_error"], JSON.stringify(body));
    const [detail] = body.error?.details ?? [];
    assert.deepEqual([detail?.field, detail?.code], ["body.config.logo", "invalid_image"]);
    assert.match(detail?.message ?? "", reason);
    await assertNothingStored(owner);
  });
}

test("a picture at a private address is never asked for, not by a redirect either", async () => {
  const picture = await readFile(new URL("../../sandbox/files/picture.png", import.meta.url));
  let asked = 0;
  const server = createServer((_request, response) => {
    asked++;
    response.end(picture);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
    for (const logo of [address, `${files}/redirect/to?to=${encodeURIComponent(address)}`]) {
      const { status, body } = await render(quote({ logo }));
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(body.error?.details?.[0]?.field, "body.config.logo");
    }
    assert.equal(asked, 0);
  } finally {
    server.close();
  }
});

test("400 for all pictures that can't be used, at once", async () => {
  const { body } = await render(quote({ logo: "a", backgroundImage: `${files}/empty` }));
  assert.deepEqual(body.error?.details?.map(({ field }) => field).toSorted(), [
    "body.config.backgroundImage",
    "body.config.logo",
  ]);
});

test("own media can be used by id; that of others, too many pixels and broken ones can't", async () => {
  const { body: stored } = await stage.upload(`${files}/files/picture.png`, {}, user);
  assert.equal((await render(quote({ logo: stored.id }), { user })).status, 200);
  const foreign = await render(quote({ logo: stored.id }));
  assert.match(foreign.body.error?.details?.[0]?.message ?? "", /no such media/);
  for (const [bytes, reason] of [
    [hugePng, /more than 40000000 pixels/],
    [cutPng, /broken|pixels/],
  ] as const) {
    const { status, body } = await render(quote({ logo: await stage.put(bytes) }), { user });
    assert.equal(status, 400);
    assert.match(body.error?.details?.[0]?.message ?? "", reason);
  }
  assert.deepEqual(await stage.leftovers(), []);
});

for (const name of ["picture.png", "picture.jpg", "picture.webp", "picture.gif"]) {
  test(`${name} can be a background`, async () => {
    const { status, body } = await render(quote({ backgroundImage: `${files}/files/${name}` }));
    assert.equal(status, 200, JSON.stringify(body));
  });
}

test("what a picture shows counts, not where it is", async () => {
  const owner = await createTestUser(db);
  const { body: stored } = await stage.upload(`${files}/files/picture.png`, {}, owner);
  const ids = [];
  for (const logo of [`${files}/files/picture.png`, `${files}/length-missing`, stored.id])
    ids.push((await render(quote({ logo }), { user: owner })).body.id);
  assert.equal(new Set(ids).size, 1);
  const { body } = await render(quote({ logo: `${files}/files/picture.jpg` }), { user: owner });
  assert.notEqual(body.id, ids[0]);
});
