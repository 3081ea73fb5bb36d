import assert from "node:assert/strict";
import { test } from "node:test";
import { createFonts } from "./fonts.ts";
import { directionOf, tidy } from "./text.ts";

const { isCommon } = createFonts();

test("line breaks become one kind, control characters go, strange blanks become blanks", async () => {
  assert.equal(
    await tidy("a\r\nb\rc\u2028d\u0001\u0000\u2003e\tf\n\n\n\ng\n", isCommon),
    "a\nb\nc\nd e    f\n\ng",
  );
});

test("letters with a mark of their own are composed", async () => {
  assert.equal(await tidy("e\u0301", isCommon), "\u00E9");
});

test("a sign that the text fonts lack becomes its emoji; one they have stays a letter", async () => {
  assert.equal(await tidy("☎", isCommon), "☎\uFE0F");
  assert.equal(await tidy("☎\uFE0E", isCommon), "☎\uFE0F");
  assert.equal(await tidy("© → ✓", isCommon), "© → ✓");
});

test("what is tidy stays as it is", async () => {
  const once = await tidy("☎ a\tb 👩🏽‍💻\r\n❤️", isCommon);
  assert.equal(await tidy(once, isCommon), once);
});

test("the first letter decides the direction", () => {
  assert.equal(directionOf("12 – مرحبا hello"), "rtl");
  assert.equal(directionOf("שלום"), "rtl");
  assert.equal(directionOf("hello مرحبا"), "ltr");
  assert.equal(directionOf("123 😀"), "ltr");
});
