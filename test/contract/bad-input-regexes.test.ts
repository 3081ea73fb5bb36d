import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

// Every regular expression of the service against long texts made of the characters that it speaks of itself: what
// backtracks is slow on one of them. The short ones come first, because what is exponential never ends on a long one.

const sizes = [24, 2_048, 16_384];
// Whatever a pattern takes, one of these is what it does not take at the end.
const endings = ["\0!", " x", "\n\n"];
// It colours JSON that we wrote ourselves, where every string has its end.
const exempt = "reference/page-json.ts";
const limitMs = 50;
const root = new URL("../../src/", import.meta.url);
const isTest = /\.(test|testing|fixture)\.ts$/;
const literal =
  /(?<=(?:^|[=(,:[!&|?{};]|return|=>)\s*)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([dgimsuvy]*)(?=\s*[.,;)\]}:]|\s*$)/gm;

interface Found {
  place: string;
  regex: RegExp;
}

function regexesOf(file: string): Found[] {
  const text = readFileSync(new URL(file, root), "utf8");
  return [...text.matchAll(literal)].map(([whole, source = "", flags = "", ..._rest]) => ({
    place: `${file}: ${whole}`,
    regex: new RegExp(source, flags),
  }));
}

/** The text that every match begins with, as far as the pattern says it plainly. */
function beginningOf(source: string): string {
  return (/^\^?((?:\\[/.]|[\w "@:;-])*)/.exec(source)?.[1] ?? "").replaceAll("\\", "");
}

function hostileTexts({ source }: RegExp): string[] {
  const characters = [...new Set(`${source.replaceAll(/[\\^$()|?*+]/g, "")}aA0 .\t\n"\\/-é`)];
  const pumps = characters.flatMap((one) => characters.map((other) => one + other));
  const beginnings = new Set(["", beginningOf(source)]);
  return sizes.flatMap((size) =>
    [...beginnings].flatMap((beginning) =>
      pumps.flatMap((pump) => endings.map((ending) => beginning + pump.repeat(size / 2) + ending)),
    ),
  );
}

function tookMs(regex: RegExp, text: string): number {
  regex.lastIndex = 0;
  const startedAt = performance.now();
  if (regex.global) text.replaceAll(regex, "");
  else regex.exec(text);
  return performance.now() - startedAt;
}

/** The best of three: the machine may be busy with something else. */
const isSlow = (regex: RegExp, text: string): boolean =>
  [1, 2, 3].every(() => tookMs(regex, text) > limitMs);

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !isTest.test(file))
  .sort();
const found = files.filter((file) => file !== exempt).flatMap(regexesOf);

test("the expressions of the service are found", (t) => {
  t.diagnostic(`${found.length} expressions`);
  const places = found.map(({ place }) => place).join("\n");
  for (const file of ["http/request-id.ts", "http/server.ts", "http/json.ts", "limits/guard.ts"])
    assert.ok(places.includes(`${file}: `), file);
});

for (const { place, regex } of found) {
  test(`at most ${limitMs} ms for 16 KB: ${place}`, () => {
    const slow = hostileTexts(regex).find((text) => isSlow(regex, text));
    assert.equal(slow, undefined, `slow on ${JSON.stringify(slow?.slice(0, 60))}...`);
  });
}
