import assert from "node:assert/strict";
import { test } from "node:test";
import { toSrt, toVtt } from "./subtitles.ts";

const segments = [
  { start: 0, end: 1.5, text: "Good morning." },
  { start: 3_661.0005, end: 3_662.25, text: " It is\nfive past ten. " },
];

test("SubRip numbers its cues and writes a comma before the milliseconds", () => {
  assert.equal(
    toSrt(segments),
    "1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n" +
      "2\n01:01:01,001 --> 01:01:02,250\nIt is five past ten.\n\n",
  );
});

test("WebVTT has its heading and a point before the milliseconds", () => {
  assert.equal(
    toVtt(segments),
    "WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n" +
      "2\n01:01:01.001 --> 01:01:02.250\nIt is five past ten.\n\n",
  );
});

interface Cue {
  from: number;
  to: number;
  lines: string[];
}

function read(subtitles: string): Cue[] {
  const blocks = subtitles.trimEnd().split("\n\n");
  return blocks.map((block) => {
    const [, times = "", ...lines] = block.split("\n");
    const [from = 0, to = 0] = times.split(" --> ").map((time) => {
      const [hours = 0, minutes = 0, seconds = 0] = time.replace(",", ".").split(":").map(Number);
      return hours * 3_600 + minutes * 60 + seconds;
    });
    return { from, to, lines };
  });
}

test("long segments become cues of two lines that follow each other without a gap", () => {
  const text = Array.from({ length: 80 }, (_, at) => `word${at}`).join(" ");
  const cues = read(toSrt([{ start: 10, end: 34.5, text }]));
  assert.ok(cues.length > 5);
  assert.equal(cues[0]?.from, 10);
  assert.equal(cues.at(-1)?.to, 34.5);
  cues.slice(1).forEach(({ from }, at) => assert.equal(from, cues[at]?.to));
  for (const { lines } of cues) {
    assert.ok(lines.length <= 2);
    for (const line of lines) assert.ok(line.length <= 42, line);
  }
  assert.equal(cues.flatMap(({ lines }) => lines).join(" "), text);
});

test("text without spaces is cut between letters, never inside of one", () => {
  const family = "👩‍👩‍👧";
  const cues = read(toSrt([{ start: 0, end: 9, text: family.repeat(50) }]));
  assert.deepEqual(
    cues.flatMap(({ lines }) => lines),
    [family.repeat(42), family.repeat(8)],
  );
});

test("no text can pass for a tag, a time or the end of a cue", () => {
  const text = "a < b & c > d\n\n2\n00:00:01.000 --> 00:00:02.000\u0000\r\n<b>bold</b>";
  const hostile = [{ start: 0, end: 1, text }];
  const vtt = toVtt(hostile);
  assert.ok(vtt.includes("a &lt; b &amp; c &gt; d 2"));
  assert.equal(vtt.match(/-->/g)?.length, 1);
  assert.doesNotMatch(vtt, /<b>/);
  const srt = toSrt(hostile);
  assert.equal(srt.match(/-->/g)?.length, 1);
  assert.equal(read(srt).length, 1);
});

test("segments without words are left out, and none ends before it begins", () => {
  const odd = [
    { start: 1, end: 2, text: " \n" },
    { start: 5, end: 4, text: "Late." },
  ];
  assert.equal(toSrt(odd), "1\n00:00:05,000 --> 00:00:05,001\nLate.\n\n");
  assert.equal(toVtt([]), "WEBVTT\n\n");
});
