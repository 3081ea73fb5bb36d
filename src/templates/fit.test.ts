import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@takumi-rs/core";
import { fitText } from "./fit.ts";
import type { Measure } from "./fit.ts";
import { createFonts } from "./fonts.ts";
import type { TextBox } from "./template.ts";

const fonts = createFonts();
const box: TextBox = {
  width: 600,
  height: 400,
  minSize: 24,
  maxSize: 120,
  style: { lineHeight: 1.2, fontWeight: 700 },
};

async function fitted(text: string, wanted: Partial<TextBox> = {}) {
  const { families: fontFamilies } = await fonts.chainFor(text);
  let measures = 0;
  const measure: Measure = async (node) => {
    measures++;
    return await fonts.renderer.measure(node, { fontFamilies });
  };
  const node = await fitText(measure, text, { ...box, ...wanted });
  const spent = measures;
  return {
    node,
    size: Number(node.style?.fontSize),
    spent,
    measure,
    measured: await measure(node),
  };
}

function textOf(node: Node): string {
  if (node.type === "text") return node.text;
  return node.type === "container" ? (node.children ?? []).map(textOf).join("") : "";
}

const long = "Words that go on and on, until the box is full of them. ".repeat(60);
const texts: Record<string, string> = {
  short: "Hi",
  prose: "The quick brown fox jumps over the lazy dog, again and again and again.",
  lines: "one\ntwo\n\nthree",
  "one long word": "Donaudampfschifffahrtsgesellschaftskapitän",
  "an endless word": "A".repeat(3_000),
  "too much": long,
  Arabic: "مرحبا بالعالم، هذا نص طويل بعض الشيء. ".repeat(8),
  Japanese: "日本語のテキストです。とても長い文章を書いてみましょう。".repeat(6),
  Korean: "한국어 텍스트 시험입니다 ".repeat(8),
  Thai: "สวัสดีชาวโลกนี่คือข้อความยาว".repeat(10),
  emoji: "🚀😀👩🏽‍💻".repeat(60),
  mixed: "Launch 🚀 day with نص and 文字 😀 ".repeat(9),
};

for (const [name, text] of Object.entries(texts)) {
  test(`${name}: inside the box, in a size that is allowed, with few measures`, async () => {
    const { size, spent, measured } = await fitted(text);
    assert.ok(measured.height <= box.height, `${measured.height} high`);
    assert.ok(size >= box.minSize && size <= box.maxSize && Number.isInteger(size), `${size}`);
    assert.ok(spent <= 20, `${spent} measures`);
    for (const run of measured.runs) {
      const blank = run.text.length - run.text.trimEnd().length;
      assert.ok(run.x >= -1, `${run.text} begins at ${run.x}`);
      assert.ok(run.x + run.width <= box.width + 1 + blank * size, `${run.text} ends outside`);
    }
  });
}

test("one pixel more would not fit", async () => {
  const { size, measure } = await fitted(texts["prose"] ?? "");
  const larger = await fitText(measure, texts["prose"] ?? "", {
    ...box,
    minSize: size + 1,
    maxSize: size + 1,
  });
  assert.match(textOf(larger), /…$/);
});

test("a text that fits in the largest size is not made smaller, nor cut", async () => {
  const { node, size } = await fitted("Hi");
  assert.deepEqual([textOf(node), size], ["Hi", box.maxSize]);
});

test("a word is made smaller and not broken, as long as the smallest size can hold it", async () => {
  const { measured, size } = await fitted("Donaudampfschifffahrt");
  assert.equal(measured.runs.length, 1);
  assert.ok(size < box.maxSize);
});

test("a Korean word is not broken either", async () => {
  const { measured } = await fitted("한국어 텍스트 시험");
  const words = measured.runs.flatMap(({ text }) => text.split(" ").filter((word) => word !== ""));
  assert.deepEqual(words.toSorted(), ["시험", "텍스트", "한국어"]);
});

test("what is too long ends with an ellipsis, never inside of a character", async () => {
  const { node, size, measure } = await fitted(long);
  const text = textOf(node);
  assert.equal(size, box.minSize);
  assert.ok(long.startsWith(text.slice(0, -1)) && text.endsWith("…"));
  // As long as it can be: a word more is too much.
  const more = long.slice(0, text.length + 12);
  const measured = await measure({ ...node, text: more } as Node);
  assert.ok(measured.height > box.height);

  const families = await fitted("👨‍👩‍👧‍👦".repeat(500));
  const pictures = families.node.type === "container" ? (families.node.children ?? []) : [];
  const sources = pictures.flatMap((each) => (each.type === "image" ? [each.src] : []));
  assert.ok(sources.length > 20);
  assert.equal(new Set(sources).size, 1);
});

test("a line that may not wrap is made smaller, then cut, to fit its width", async () => {
  const style = { whiteSpace: "nowrap", lineHeight: 1.2 } as const;
  const smaller = await fitted("A handle that is rather long", { style });
  assert.ok(smaller.size < box.maxSize && smaller.measured.runs.length === 1);
  const cut = await fitted(long, { style });
  assert.match(textOf(cut.node), /…$/);
  for (const { measured } of [smaller, cut])
    for (const run of measured.runs) assert.ok(run.x + run.width <= box.width);
});

test("right-to-left text begins at the right, and its lines are spaced for its marks", async () => {
  const { node, measured } = await fitted("مرحبا");
  assert.equal(node.dir, "rtl");
  const [run] = measured.runs;
  assert.ok(run && Math.abs(run.x + run.width - box.width) < 1);
  assert.equal(node.style?.lineHeight, 1.45);
  assert.equal((await fitted("Hello")).node.style?.lineHeight, 1.2);
});

test("emoji take room: a text with them is smaller than one without", async () => {
  const text = "Some words for a line ".repeat(6);
  const [plain, full] = [await fitted(text), await fitted(text.replaceAll(" ", " 🚀 "))];
  assert.ok(full.size < plain.size, `${full.size} < ${plain.size}`);
});
