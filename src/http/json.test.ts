import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson, parseJson } from "./json.ts";

const parse = (text: string): unknown => parseJson(Buffer.from(text));
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test("what JSON says is what is parsed", () => {
  const text =
    '{"a":[1,-2.5e3,true,null,"x\\u00e9\\"\\\\"],"b":{"a":{}},"":"empty key","c":"a:b,{c}[d]"}';
  assert.deepEqual(parse(text), JSON.parse(text));
  assert.deepEqual(parse(' [ "a" , { "b" : "b" } , { "b" : 1 } ] '), ["a", { b: "b" }, { b: 1 }]);
});

test("an absent body is no value", () => {
  assert.equal(parse(""), undefined);
});

test("up to 64 levels are read, and not one more", () => {
  assert.doesNotThrow(() => parse(nested(64)));
  assert.throws(() => parse(nested(65)), { code: "validation_error" });
  assert.throws(() => parse(nested(200_000)), { code: "validation_error" });
});

for (const [name, bytes] of [
  ["a key given twice", '{"a":1,"a":2}'],
  ["a key given twice in two spellings", '{"a":1,"\\u0061":2}'],
  ["a key given twice further in", '{"x":[{"b":{},"c":1,"b":2}]}'],
  ["__proto__", '{"__proto__":{"isAdmin":true}}'],
  ["__proto__ in another spelling", '{"a":{"\\u005f_proto__":1}}'],
  ["constructor", '{"constructor":{"prototype":{}}}'],
  ["NUL", '{"a":"x\\u0000y"}'],
  ["half a surrogate pair", '{"a":"\\ud800"}'],
  ["a byte order mark", "\ufeff{}"],
  ["something behind the document", "{} {}"],
  ["a trailing comma", "[1,]"],
  ["a comment", "{} // no"],
  ["NaN", "[NaN]"],
  ["a cut document", '{"a":'],
  ["white space only", "  "],
] as const) {
  test(`refused: ${name}`, () => {
    assert.throws(() => parse(bytes), { code: "validation_error" });
  });
}

test("refused: bytes that are not UTF-8", () => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0xaf, 0x22],
    [0xfe, 0xff, 0x00, 0x7b],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
  ]) {
    assert.throws(() => parseJson(Buffer.from(bytes)), { code: "validation_error" });
  }
});

test("the largest body is inspected in a moment, and one of too many parts is refused in a moment", () => {
  const strings = [`"${"x".repeat(1_000_000)}"`, `"${"\\n".repeat(500_000)}"`];
  const crowds = [
    `[${"1,".repeat(499_999)}1]`,
    `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join(",")}}`,
    `[${'"",'.repeat(300_000)}""]`,
  ];
  const startedAt = performance.now();
  for (const body of strings) parse(body);
  for (const body of crowds) assert.throws(() => parse(body), { code: "validation_error" });
  assert.ok(performance.now() - startedAt < 1_000);
});

test("the same value has one canonical text, whatever the order of its keys", () => {
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), '{"a":null,"b":[{"c":2,"d":1}]}');
  assert.equal(canonicalJson(undefined), "");
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
});
