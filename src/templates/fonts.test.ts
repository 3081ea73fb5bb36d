import assert from "node:assert/strict";
import { test } from "node:test";
import { Coverage, readCoverage } from "./coverage.ts";
import { createFonts } from "./fonts.ts";

const fonts = createFonts();
const eastAsianOf = async (text: string): Promise<string[]> =>
  (await fonts.chainFor(text)).families.filter((name) => /JP|KR|SC/.test(name));

test("a coverage knows the ends of its ranges and what lies between them", () => {
  const coverage = new Coverage([
    [65, 67],
    [70, 70],
    [0x20000, 0x2ffff],
  ]);
  const has = [64, 65, 66, 67, 68, 69, 70, 71, 0x1ffff, 0x20000, 0x2ffff, 0x30000];
  assert.deepEqual(
    has.filter((code) => coverage.has(code)),
    [65, 66, 67, 70, 0x20000, 0x2ffff],
  );
});

test("a file that is no font is told apart", () => {
  assert.throws(() => readCoverage(Buffer.alloc(100)), /without a table/);
});

for (const [name, text] of Object.entries({
  Latin: "Añо ěščřžýáíé ŁßŒ",
  Cyrillic: "Привет, Їжак",
  Greek: "Ελληνικά",
  Vietnamese: "Tiếng Việt",
  Arabic: "مرحبا بالعالم پچگ",
  Hebrew: "שלום",
  Devanagari: "नमस्ते क्षत्रिय",
  Thai: "สวัสดี",
  code: "if (a !== b) { return `│└─`; }",
})) {
  test(`${name} is drawn by the fonts that are always there`, async () => {
    assert.deepEqual(await eastAsianOf(text), []);
    assert.deepEqual((await fonts.chainFor(text)).missing, []);
  });
}

test("the letters around them say whose Han characters are meant", async () => {
  assert.deepEqual(await eastAsianOf("骨と直"), ["Noto Sans JP"]);
  assert.deepEqual(await eastAsianOf("한국어 漢字"), ["Noto Sans KR"]);
  assert.deepEqual(await eastAsianOf("汉字"), ["Noto Sans SC"]);
  assert.deepEqual(await eastAsianOf("かな 한글"), ["Noto Sans JP", "Noto Sans KR"]);
  assert.deepEqual(await eastAsianOf("かな 汉"), ["Noto Sans JP", "Noto Sans SC"]);
});

test("a character that no font has is named, once", async () => {
  assert.deepEqual((await fonts.chainFor("a\u{12000}b\u{12000}ᚠ")).missing, ["\u{12000}", "ᚠ"]);
});

test("half a character is missing, what can't be seen is not", async () => {
  assert.deepEqual((await fonts.chainFor("\uD83D")).missing, ["\uD83D"]);
  assert.deepEqual((await fonts.chainFor("a\u200B\u200D\u202E\uFE0F\n\u00AD")).missing, []);
});
