import type { Case } from "../hostile.ts";

export const maxBodyBytes = 1_048_576;

type Size = readonly [name: string, body: string, expect: number, code?: string];

const padded = (length: number): string => `{}${" ".repeat(length - 2)}`;
const repeated = (count: number, part: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => part(i)).join(",");

function nested(depth: number): Size[] {
  const code = depth > 64 ? "invalid_json" : undefined;
  const objects = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  const mixed = '[{"a":'.repeat(depth / 2) + "1" + "}]".repeat(depth / 2);
  return [
    [`${depth} arrays`, "[".repeat(depth) + "]".repeat(depth), 400, code],
    [`${depth} objects`, objects, 400, code],
    [`${depth} of both`, mixed, 400, code],
    [`${depth} arrays that never end`, "[".repeat(depth), 400, "invalid_json"],
    [
      `${depth} in the name`,
      `{"name":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`,
      400,
      code,
    ],
  ];
}

function sizes(): Size[] {
  const depths = [10, 32, 62, 64, 66, 100, 1_000, 5_000, 10_000, 50_000, 100_000];
  const most = maxBodyBytes;
  return [
    ["1 MB of white space around an object", padded(most), 201],
    ["one byte less", padded(most - 1), 201],
    ["1 MB and a byte", padded(most + 1), 413],
    ["1 MB and a byte that is no JSON", "x".repeat(most + 1), 413],
    ["2 MB", padded(2 * most), 413],
    ["10 MB", padded(10 * most), 413],
    ["a name of 1 MB", `{"name":"${"x".repeat(most - 11)}"}`, 400, "too_big"],
    ["a name of 1 MB and a byte", `{"name":"${"x".repeat(most - 10)}"}`, 413],
    ["a name of escapes", `{"name":"${String.raw`\u0041`.repeat(170_000)}"}`, 400, "too_big"],
    ["a name of emoji", `{"name":"${"\u{1f600}".repeat(250_000)}"}`, 400, "too_big"],
    ["a key of 1 MB", `{"${"x".repeat(most - 6)}":1}`, 400, "unrecognized_keys"],
    ["a key of emoji", `{"x${"\u{1f600}".repeat(200_000)}":1}`, 400, "unrecognized_keys"],
    ["80,000 keys", `{${repeated(80_000, (i) => `"k${i}":1`)}}`, 400, "invalid_json"],
    ["100,000 empty objects", `[${repeated(100_000, () => "{}")}]`, 400, "invalid_json"],
    ["500,000 numbers", `[${repeated(500_000, () => "1")}]`, 400, "invalid_json"],
    ["300,000 strings", `[${repeated(300_000, () => '""')}]`, 400, "invalid_json"],
    ["a number of 1 MB", "1".repeat(most), 400, "invalid_type"],
    ["a small number of 1 MB", `0.${"0".repeat(most - 3)}1`, 400, "invalid_type"],
    ["1 MB of backslashes", `{"name":"${"\\".repeat(1_000_000)}"}`, 400],
    ["1 MB of quotes", `{"name":"${'\\"'.repeat(500_000)}"}`, 400, "too_big"],
    ["1 MB of an open string", `{"name":"${"\\a".repeat(500_000)}`, 400, "invalid_json"],
    ["1 MB of opening quotes", '"'.repeat(1_000_000), 400, "invalid_json"],
    ["1 MB of colons", ":".repeat(1_000_000), 400, "invalid_json"],
    ["1 MB of white space", " ".repeat(most), 400, "invalid_json"],
    ...depths.flatMap(nested),
  ];
}

/** The largest body that is taken, one byte more, and all that a megabyte can be filled with. */
export function sizeCases(): Case[] {
  return sizes().map(([name, body, expect, code]) => ({
    name,
    method: "POST",
    path: "/v1/api-keys",
    body,
    expect,
    detail: code === undefined ? undefined : { code },
  }));
}
