import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseRange } from "./ranges.ts";

const size = 1_000;

for (const [header, expected] of [
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=0-", { start: 0, end: 999 }],
  ["bytes=999-", { start: 999, end: 999 }],
  ["bytes=-1", { start: 999, end: 999 }],
  ["bytes=-5000", { start: 0, end: 999 }],
  ["bytes=10-99999999999999999999", { start: 10, end: 999 }],
  ["BYTES = 1 - 2", { start: 1, end: 2 }],
  [" bytes=1-2 ", { start: 1, end: 2 }],
  ["bytes=1000-", "unsatisfiable"],
  ["bytes=100000000000000000000-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=5-4", null],
  ["bytes=-", null],
  ["bytes=", null],
  ["bytes=a-b", null],
  ["bytes=--5", null],
  ["bytes=-5-", null],
  ["bytes=1.5-3", null],
  ["bytes=0x1-3", null],
  ["bytes=0-1,3-4", null],
  ["bytes=0-1,", null],
  ["items=0-1", null],
  ["0-1", null],
  ["", null],
  [undefined, null],
] as const) {
  test(`a range of "${header}" is ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(parseRange(header, size), expected);
  });
}

test("every well-formed range is the same slice that RFC 9110 gives", () => {
  const bound = fc.nat(1_500);
  fc.assert(
    fc.property(fc.nat(1_200), fc.option(bound), fc.option(bound), (length, first, last) => {
      fc.pre(first !== null || last !== null);
      const bytes = Array.from({ length }, (_, index) => index);
      const range = parseRange(`bytes=${first ?? ""}-${last ?? ""}`, length);
      const isReversed = first !== null && last !== null && last < first;
      // The same again, by slicing.
      const slice =
        first === null
          ? bytes.slice(Math.max(0, length - (last ?? 0)))
          : bytes.slice(first, (last ?? length) + 1);
      if (isReversed) assert.equal(range, null);
      else if (slice.length === 0) assert.equal(range, "unsatisfiable");
      else {
        assert.ok(range !== null && range !== "unsatisfiable");
        assert.deepEqual(bytes.slice(range.start, range.end + 1), slice);
      }
    }),
    { numRuns: 5_000 },
  );
});
