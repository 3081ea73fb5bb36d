import assert from "node:assert/strict";
import { test } from "node:test";
import { emojiImages, splitEmoji, withEmoji } from "./emoji.ts";

const picturesIn = async (text: string): Promise<string[]> =>
  (await emojiImages(withEmoji({ type: "text", text }))).map(({ data }) =>
    Buffer.from(data as Uint8Array).toString("utf8", 0, 4),
  );

for (const [name, text] of Object.entries({
  "a face": "😀",
  "a family": "👨‍👩‍👧‍👦",
  "a skin tone": "👍🏽",
  "a profession": "👩🏽‍💻",
  "a flag": "🇩🇪",
  "a flag of a region": "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "a rainbow flag": "🏳️‍🌈",
  "a keycap": "1️⃣",
  "a red heart": "❤️",
  "a heart on fire": "❤️‍🔥",
  "an eye in a bubble": "👁️‍🗨️",
})) {
  test(`${name} is one picture from this machine`, async () => {
    assert.deepEqual(await picturesIn(text), ["<svg"]);
    assert.deepEqual(splitEmoji(`a${text}b`), { letters: "ab", missing: [] });
  });
}

test("an emoji without a picture is named", () => {
  // Of Unicode 16, which the pictures do not know.
  assert.deepEqual(splitEmoji("a \u{1FAE9}"), { letters: "a ", missing: ["\u{1FAE9}"] });
});

test("joiners stay where letters need them, and go where they would change the font", () => {
  assert.equal(splitEmoji("a\u200Db\uFEFF\uFE0F").letters, "ab");
  assert.equal(splitEmoji("می\u200Cخواهم").letters, "می\u200Cخواهم");
  assert.equal(splitEmoji("क्\u200Dष").letters, "क्\u200Dष");
});

test("a text without emoji stays one text", () => {
  assert.deepEqual(withEmoji({ type: "text", text: "a 1 # *" }), { type: "text", text: "a 1 # *" });
});
