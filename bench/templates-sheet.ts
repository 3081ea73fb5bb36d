import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import type { OverlayOptions } from "sharp";
import { templates } from "../src/templates/designs/index.ts";
import { sample, sampleNames } from "../src/templates/designs.testing.ts";
import { createDraw } from "../src/templates/draw.ts";
import type { Ratio, Template } from "../src/templates/template.ts";
import { ratios } from "../src/templates/template.ts";

// Contact sheets, to look at: every design in every ratio with texts of several lengths and scripts, and with pictures.
//   node bench/templates-sheet.ts <folder> [slug...]     node bench/templates-sheet.ts --pixels

const draw = createDraw();
const ratioNames = Object.keys(ratios) as Ratio[];
const thumbnail = 360;
const gap = 16;
const heading = 40;

/** A picture with light, dark and busy parts. */
async function photo(hue: number): Promise<Buffer> {
  const circles = Array.from({ length: 40 }, (_, i) => {
    const [x, y] = [(i * 397) % 1200, (i * 631) % 1200];
    return `<circle cx="${x}" cy="${y}" r="${40 + ((i * 53) % 160)}" fill="hsl(${hue + i * 5} 70% ${20 + ((i * 37) % 70)}%)" fill-opacity=".8"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="1200"><rect width="1200" height="1200" fill="#fff"/>${circles.join("")}</svg>`;
  return sharp(Buffer.from(svg)).jpeg().toBuffer();
}

function columnsOf(template: Template): { name: string; config: Record<string, unknown> }[] {
  const pictures = Object.fromEntries(template.images.map((key) => [key, key]));
  return [
    { name: "example", config: template.config.parse(template.example) },
    ...sampleNames.map((name) => ({ name, config: sample(template, name) })),
    { name: "pictures", config: template.config.parse({ ...template.example, ...pictures }) },
  ];
}

function caption(text: string): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${thumbnail}" height="${heading}"><text x="0" y="28" font-family="sans-serif" font-size="22" fill="#222">${text}</text></svg>`,
  );
}

async function sheet(template: Template, folder: string): Promise<void> {
  const images = new Map(
    await Promise.all(template.images.map(async (key, i) => [key, await photo(i * 90)] as const)),
  );
  const columns = columnsOf(template);
  const parts: OverlayOptions[] = [];
  let top = 0;
  for (const ratio of ratioNames) {
    const height = (thumbnail * ratios[ratio].height) / ratios[ratio].width;
    for (const [i, { name, config }] of columns.entries()) {
      const left = gap + i * (thumbnail + gap);
      const png = await draw(template, config, ratio, name === "pictures" ? images : new Map());
      await writeFile(join(folder, `${template.slug}-${name}-${ratio.replace(":", "x")}.png`), png);
      parts.push(
        { input: caption(`${template.slug} ${ratio} ${name}`), top, left },
        { input: await sharp(png).resize(thumbnail, height).toBuffer(), top: top + heading, left },
      );
    }
    top += heading + height + gap;
  }
  const width = columns.length * (thumbnail + gap) + gap;
  await sharp({ create: { width, height: top, channels: 3, background: "#e5e5e5" } })
    .composite(parts)
    .png()
    .toFile(join(folder, `sheet-${template.slug}.png`));
}

/** What the pixel test holds the designs to. */
async function writePixels(): Promise<void> {
  const hashes: Record<string, string> = {};
  for (const template of templates)
    for (const ratio of ratioNames) {
      const png = await draw(template, template.config.parse(template.example), ratio, new Map());
      hashes[`${template.slug} ${ratio}`] = createHash("sha256").update(png).digest("hex");
    }
  const file = new URL("../src/templates/designs.pixels.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(hashes, undefined, 2)}\n`);
}

const [folder = "--pixels", ...slugs] = process.argv.slice(2);
if (folder === "--pixels") await writePixels();
else {
  await mkdir(folder, { recursive: true });
  for (const template of templates)
    if (slugs.length === 0 || slugs.includes(template.slug)) await sheet(template, folder);
}
