import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { MeasuredNode, Node } from "@takumi-rs/core";
import { contrast, mix } from "./colours.ts";
import { sample, sampleNames } from "./designs.testing.ts";
import { templates } from "./designs/index.ts";
import { createDraw } from "./draw.ts";
import { splitEmoji, withEmoji } from "./emoji.ts";
import { fitText } from "./fit.ts";
import { createFonts } from "./fonts.ts";
import { palette } from "./palette.ts";
import type { Canvas, Ratio, Template } from "./template.ts";
import { ratios } from "./template.ts";
import { textsOf } from "./text.ts";

const ratioNames = Object.keys(ratios) as Ratio[];
const fonts = createFonts();

/** Light, dark, pale, loud and middling ones, where black and white are hardest to choose between. */
const backgrounds =
  "#000 #fff #777777 #ff0000 #00ff00 #0000ff #ffff00 #8a6d3b #c0ffee #b0457a #2e8b8b #9aa0a6".split(
    " ",
  );

// Sizes do not matter to colours, except that small text needs more contrast: all of it is as small as it gets.
const smallestType = (ratio: Ratio): Canvas => ({
  ratio,
  ...ratios[ratio],
  fit: async (text, { width, minSize, style }) => ({
    type: "text",
    text,
    style: { ...style, width, fontSize: minSize },
  }),
});

interface Ink {
  text: string;
  color: string;
  size: number;
  grounds: string[];
}

function inksIn(node: Node, grounds: string[] = []): Ink[] {
  const { backgroundColor, backgroundImage, color, fontSize } = node.style ?? {};
  const own = `${backgroundColor ?? ""} ${backgroundImage ?? ""}`.match(/#[0-9a-f]{3,6}\b/gi);
  const inner = own ?? grounds;
  if (node.type === "container")
    return (node.children ?? []).flatMap((child) => inksIn(child, inner));
  if (node.type === "image") return [];
  return [{ text: node.text, color: String(color), size: Number(fontSize), grounds: inner }];
}

async function assertReadable(template: Template, choice: Record<string, unknown>): Promise<void> {
  const config = template.config.parse({ ...template.example, ...choice });
  const inks = inksIn(await template.layout(config, smallestType("1:1")));
  assert.ok(inks.length > 0);
  for (const { text, color, size, grounds } of inks) {
    assert.ok(grounds.length > 0, `nothing is behind "${text}"`);
    for (const ground of grounds) {
      const reached = contrast(color, ground);
      const shown = `"${text}" in ${color} on ${ground}: ${reached.toFixed(2)}`;
      assert.ok(reached >= (size >= 40 ? 3 : 4.5), shown);
    }
  }
}

describe("colours", () => {
  for (const template of templates)
    test(`every text of ${template.slug} can be read on its own and on other backgrounds`, async () => {
      await assertReadable(template, {});
      for (const [i, backgroundColor] of backgrounds.entries()) {
        await assertReadable(template, { backgroundColor });
        const backgroundTo = backgrounds[(i + 1) % backgrounds.length];
        await assertReadable(template, {
          backgroundColor,
          backgroundTo,
          accentColor: backgroundTo,
        });
      }
    });

  test("text and background of the user's choice stay as they are", () => {
    const choice = { textColor: "#888888", backgroundColor: "#999999", backgroundTo: "#aaaaaa" };
    const { text, from, to } = palette(choice, { background: "#ffffff", accent: "#ff0000" });
    assert.deepEqual([text, from, to], ["#888888", "#999999", "#aaaaaa"]);
  });

  test("text on a picture can be read on black and on white parts of it", () => {
    for (const backgroundColor of [undefined, ...backgrounds]) {
      const colours = palette(
        { backgroundColor, backgroundImage: "picture" },
        { background: "#ffffff", accent: "#ff0000" },
      );
      for (const pixel of ["#000000", "#ffffff"])
        for (const ink of [colours.text, colours.muted, colours.accentText])
          assert.ok(contrast(ink, mix(pixel, colours.from, colours.shade)) >= 4.5);
    }
  });
});

interface Box {
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function boxOf({ transform, width, height, runs }: MeasuredNode): Box {
  const [, , , , left, top] = transform;
  const text = runs.map((run) => run.text).join("");
  return { text, left, top, right: left + width, bottom: top + height };
}

const isInside = (inner: Box, outer: Omit<Box, "text">): boolean =>
  inner.left >= outer.left - 1 &&
  inner.top >= outer.top - 1 &&
  inner.right <= outer.right + 1 &&
  inner.bottom <= outer.bottom + 1;

const overlap = (one: Box, other: Box): boolean =>
  Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;

/** The boxes of all texts, each of which must lie in the box around it. */
function textBoxes(node: MeasuredNode): Box[] {
  const around = boxOf(node);
  return node.children.flatMap((child) => {
    if (child.runs.length === 0) return textBoxes(child);
    const box = boxOf(child);
    assert.ok(isInside(box, around), `"${box.text}" sticks out of what is around it`);
    return [box];
  });
}

interface Laid {
  tree: Node;
  options: { width: number; height: number; fontFamilies: string[] };
}

async function lay(
  template: Template,
  config: Record<string, unknown>,
  ratio: Ratio,
): Promise<Laid> {
  const { letters } = splitEmoji(textsOf(Object.values(config)).join("\n"));
  const { families: fontFamilies } = await fonts.chainFor(letters);
  const measure = async (node: Node): Promise<MeasuredNode> =>
    await fonts.renderer.measure(node, { fontFamilies });
  const fit: Canvas["fit"] = async (text, box) => await fitText(measure, text, box);
  const tree = await template.layout(config, { ratio, ...ratios[ratio], fit });
  return { tree: withEmoji(tree), options: { ...ratios[ratio], fontFamilies } };
}

function withoutText(node: Node): Node {
  const style = { ...node.style, ...(node.style?.color && { color: "transparent" }) };
  if (node.type !== "container") return { ...node, style };
  return { ...node, style, children: (node.children ?? []).map(withoutText) };
}

/** How many pixels of texts lie outside of their boxes, but for accents and tails of letters. */
async function strayPixels({ tree, options }: Laid, boxes: readonly Box[]): Promise<number> {
  const { width } = options;
  const [full, empty] = await Promise.all(
    [tree, withoutText(tree)].map(async (node) => {
      const { buffer } = Uint8Array.from(
        await fonts.renderer.render(node, { ...options, format: "raw" }),
      );
      return new Uint32Array(buffer);
    }),
  );
  for (const { left, top, right, bottom } of boxes)
    for (let y = Math.floor(top - 16); y < bottom + 16; y += 1)
      full?.fill(0, Math.floor(y * width + left - 12), Math.ceil(y * width + right + 12));
  return full?.filter((pixel, i) => pixel !== 0 && pixel !== empty?.[i]).length ?? 0;
}

describe("layout", () => {
  for (const template of templates)
    test(`texts of ${template.slug} stay in the picture, clear of each other and of the apps' controls`, async () => {
      for (const ratio of ratioNames)
        for (const name of sampleNames) {
          const laid = await lay(template, sample(template, name), ratio);
          const boxes = textBoxes(await fonts.renderer.measure(laid.tree, laid.options));
          const { width, height } = ratios[ratio];
          const [top, bottom] = ratio === "9:16" ? [250, 320] : [72, 72];
          const safe = { left: 72, top, right: width - 72, bottom: height - bottom };
          for (const [i, box] of boxes.entries()) {
            const where = `${ratio} ${name}: "${box.text}"`;
            assert.ok(isInside(box, safe), `${where} leaves the safe area`);
            const other = boxes.slice(i + 1).find((next) => overlap(box, next));
            assert.equal(other, undefined, `${where} overlaps "${other?.text}"`);
          }
          // What is drawn is not always what was measured.
          assert.equal(await strayPixels(laid, boxes), 0, `${ratio} ${name} leaves its boxes`);
        }
    });
});

test("designs have names of their own, say what each key is for, and show examples without pictures", () => {
  assert.equal(new Set(templates.map(({ slug }) => slug)).size, templates.length);
  for (const { slug, config, images, example } of templates) {
    for (const [key, schema] of Object.entries(config.shape))
      assert.ok(schema.description, `${slug} does not describe ${key}`);
    assert.ok(images.every((key) => key in config.shape && !(key in example)));
  }
});

test("every design draws its example pixel by pixel as it did", async () => {
  const stored: unknown = JSON.parse(
    await readFile(new URL("designs.pixels.json", import.meta.url), "utf8"),
  );
  const draw = createDraw(fonts);
  const drawn: Record<string, string> = {};
  for (const template of templates)
    for (const ratio of ratioNames) {
      const png = await draw(template, template.config.parse(template.example), ratio, new Map());
      drawn[`${template.slug} ${ratio}`] = createHash("sha256").update(png).digest("hex");
    }
  assert.deepEqual(
    drawn,
    stored,
    "Pictures have changed. If they should have: look at them (node bench/templates-sheet.ts <folder>), raise the version of their design, and renew the hashes (node bench/templates-sheet.ts --pixels)",
  );
});
