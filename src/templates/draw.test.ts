import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import sharp from "sharp";
import { createDraw } from "./draw.ts";
import { sample } from "./sample.testing.ts";
import { ratios } from "./template.ts";
import type { Ratio } from "./template.ts";

const run = promisify(execFile);
const draw = createDraw();
const drawn = async (text: string, ratio: Ratio = "1:1"): Promise<Buffer> =>
  await draw(sample, sample.config.parse({ text }), ratio, new Map());

async function colourAt(png: Buffer, left: number, top: number): Promise<number[]> {
  const spot = sharp(png).extract({ left, top, width: 1, height: 1 }).removeAlpha();
  return [...(await spot.raw().toBuffer())];
}

for (const ratio of Object.keys(ratios) as Ratio[]) {
  test(`${ratio} is a PNG of its size`, async () => {
    const { format, width, height } = await sharp(await drawn("Hello", ratio)).metadata();
    assert.deepEqual({ format, width, height }, { format: "png", ...ratios[ratio] });
  });
}

test("the same input gives the same bytes: again, after others, at once, and in another process", async () => {
  const fixture = fileURLToPath(new URL("./draw.fixture.ts", import.meta.url));
  for (const text of ["Hello مرحبا 😀", "直骨 汉字"]) {
    const first = await drawn(text);
    // Loads a font that has the characters of both, drawn otherwise.
    await drawn("日本語のかな 直骨 한국어");
    const [second, third] = await Promise.all([drawn(text), drawn(text)]);
    assert.ok(first.equals(second) && first.equals(third), text);
    const { stdout } = await run(process.execPath, [fixture, text]);
    assert.equal(stdout, hash("sha256", first), text);
  }
});

test("a Han character is drawn as the letters around it say", async () => {
  const [chinese, japanese] = [await drawn("直"), await drawn("直\n\n\u3042")];
  const top = { left: 60, top: 60, width: 300, height: 220 };
  const pixels = await Promise.all(
    [chinese, japanese].map(async (png) => await sharp(png).extract(top).raw().toBuffer()),
  );
  assert.ok(pixels[0] && pixels[1] && !pixels[0].equals(pixels[1]));
});

test("a picture of the config is drawn from the bytes given for it, and from those of this time", async () => {
  const config = sample.config.parse({ text: "I", picture: "https://pictures.example/a.png" });
  for (const colour of ["#ff0000", "#00ff00"]) {
    const square = sharp({ create: { width: 50, height: 50, channels: 3, background: colour } });
    const images = new Map([["https://pictures.example/a.png", await square.png().toBuffer()]]);
    const png = await draw(sample, config, "1:1", images);
    // Below the text: 80 of margin, one line of 192, 40 between them.
    assert.deepEqual(
      await colourAt(png, 180, 412),
      colour === "#ff0000" ? [255, 0, 0] : [0, 255, 0],
    );
  }
});

test("a picture without bytes is fetched from nowhere", async () => {
  const config = sample.config.parse({ text: "I", picture: "http://127.0.0.1:9/a.png" });
  const png = await draw(sample, config, "1:1", new Map());
  assert.deepEqual(await colourAt(png, 180, 412), [249, 250, 251]);
});
