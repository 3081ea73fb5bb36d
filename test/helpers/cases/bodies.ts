import type { Case } from "../hostile.ts";
import { words } from "./lists.ts";
import { brokenJson, scalars } from "./syntax.ts";

// Bodies that are wrong before any field is looked at. Where one is not, its unknown field has it refused all the same:
// so each of them must be 400, and none may leave anything behind.

const routes = ["/v1/api-keys", "/api/v1/api-keys"] as const;

type Body = readonly [name: string, body: string | Buffer];

/** The same bodies by turns at both addresses of the same route. */
function toCases(group: string, bodies: readonly Body[], code?: string): Case[] {
  return bodies.map(([name, body], i) => ({
    name: `${group}: ${name}`,
    method: "POST",
    path: routes[i % 2] ?? routes[0],
    body,
    expect: 400,
    detail: code === undefined ? undefined : { code },
  }));
}

const whole = Buffer.from('{"name":"caf\u00e9 \u{1f600}","more":[1,-2.5e3,true,null,{"a":"\\n"}]}');

function damaged(): Body[] {
  const bodies: Body[] = [];
  for (let at = 1; at < whole.length; at++) {
    bodies.push([`cut at byte ${at}`, whole.subarray(0, at)]);
    bodies.push([`without its first ${at} bytes`, whole.subarray(at)]);
  }
  return bodies;
}

/** Each byte replaced: what stays JSON by chance still has a field that nobody knows, or has lost its name. */
function flipped(): Body[] {
  return [0x00, 0x1f, 0x22, 0x5c, 0x80, 0xff].flatMap((byte) =>
    Array.from(whole, (_, at): Body => {
      const copy = Buffer.from(whole);
      copy[at] = byte;
      return [`byte ${at} is 0x${byte.toString(16)}`, copy];
    }),
  );
}

const hostileBytes: readonly (readonly [string, number[]])[] = [
  ["overlong /", [0xc0, 0xaf]],
  ["overlong NUL", [0xc0, 0x80]],
  ["overlong in three bytes", [0xe0, 0x80, 0xaf]],
  ["overlong in four bytes", [0xf0, 0x80, 0x80, 0xaf]],
  ["five bytes", [0xf8, 0x88, 0x80, 0x80, 0x80]],
  ["six bytes", [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80]],
  ["beyond U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
  ["a high surrogate", [0xed, 0xa0, 0x80]],
  ["a low surrogate", [0xed, 0xbf, 0xbf]],
  ["a pair of surrogates", [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ["a lone continuation", [0x80]],
  ["a lead without continuation", [0xc3]],
  ["two leads", [0xc3, 0xc3]],
  ["a cut sequence", [0xf0, 0x9f, 0x98]],
  ["0xFE", [0xfe]],
  ["0xFF", [0xff]],
  ["Latin-1", [0xe9]],
  ["raw NUL", [0x00]],
  ["raw control", [0x07]],
];

function encodings(): Body[] {
  const text = '{"name":"x","more":1}';
  const bytes: Body[] = hostileBytes.flatMap(([name, inside]) =>
    [0, 1, 8, 9, 14, text.length].map((at): Body => {
      const parts = [
        Buffer.from(text.slice(0, at)),
        Buffer.from(inside),
        Buffer.from(text.slice(at)),
      ];
      return [`${name} at ${at}`, Buffer.concat(parts)];
    }),
  );
  const little = Buffer.from(text, "utf16le");
  return bytes.concat([
    ["UTF-16 LE", little],
    ["UTF-16 LE with mark", Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16 BE", Buffer.from(little).swap16()],
    ["UTF-16 BE with mark", Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["UTF-32 LE", Buffer.concat(Array.from(text, (c) => Buffer.from([c.charCodeAt(0), 0, 0, 0])))],
    ["UTF-8 with mark", Buffer.from(`\ufeff${text}`)],
    ["two marks", Buffer.from(`\ufeff\ufeff${text}`)],
    ["a mark at the end", Buffer.from(`${text}\ufeff`)],
    ["gzip", Buffer.from("1f8b0800000000000003ab562a4bcc294d55b2520200", "hex")],
    ["UTF-7", "+AHsAIg-name+ACI-"],
  ]);
}

/** Where a NUL, half a pair or a bad key can hide: in a value, in a key, further in, behind an escape. */
function inside(text: string): string[] {
  return [
    `{"name":"${text}"}`,
    `{"name":"a${text}b"}`,
    `{"${text}":"x"}`,
    `{"name":"x","${text}":1}`,
    `{"a":{"b":["${text}"]}}`,
    `["${text}"]`,
    `"${text}"`,
    `{"a":"\\\\${text}"}`,
    `{"a":"\\"","b":"${text}"}`,
  ];
}

const characters = words(String.raw`
  \u0000 \ud800 \udfff \udc00\ud800 \ud83d\u0041 \uD83Dx \ud83d\ud83d\ude00`);

const pollutions = words(String.raw`
  __proto__ constructor \u005f_proto__ \u005f\u005fproto\u005f_ __prot\u006f__ c\u006fnstructor \u0063onstructor`).flatMap(
  (key) => [
    `{"${key}":{"isAdmin":true}}`,
    `{"${key}":null}`,
    `{"${key}":[]}`,
    `{"name":"x","${key}":{"name":"y"}}`,
    `{"name":{"${key}":{"isAdmin":true}}}`,
    `{"a":[{"b":{"${key}":{"prototype":{"isAdmin":true}}}}]}`,
    `[{"${key}":{"isAdmin":true}}]`,
  ],
);

const inherited = words(`
  prototype toString valueOf hasOwnProperty isPrototypeOf __defineGetter__ __lookupSetter__ then toJSON length`);
const owned = words(`
  id userId user_id key apiKey keyHash createdAt revokedAt revoked_at tokenPreview tier status role isAdmin admin`);

function twice(): string[] {
  const between = Array.from({ length: 1_000 }, (_, i) => `"k${i}":${i}`).join(",");
  return ["name", "a", "", "\u00e9", "\u{1f600}", "constructor ", "k500"].flatMap((key) => {
    const escaped = JSON.stringify(key).replaceAll(/[^"]/gu, (c) =>
      Array.from(
        { length: c.length },
        (_, i) => String.raw`\u${c.charCodeAt(i).toString(16).padStart(4, "0")}`,
      ).join(""),
    );
    return [
      `{"${key}":"x","${key}":"x"}`,
      `{"${key}":1,"b":2,"${key}":3}`,
      `{"${key}":1,${escaped}:2}`,
      `{${escaped}:1,"${key}":2}`,
      `{"a1":[0,{"b":{"${key}":{},"c":[],"${key}":[]}}]}`,
      `{"${key}":1,${between},"${key}":2}`,
    ];
  });
}

const plain = (texts: readonly string[]): Body[] => texts.map((text) => [text.slice(0, 80), text]);

// An error names the key at fault, but not the whole of it.
const emoji = "\u{1f600}".repeat(400);
const longKeys = [emoji, `x${emoji}`].flatMap((key) => [
  `{"${key}":1}`,
  `{"${key}":1,"${key}":2}`,
  `{"name":"x","${key}":{}}`,
]);

export const bodyCases = {
  "documents that are cut or damaged": [
    ...toCases("cut", damaged(), "invalid_json"),
    ...toCases("flipped", flipped()),
  ],
  "texts that are not JSON": toCases("syntax", plain(brokenJson), "invalid_json"),
  "JSON that is no object": toCases("scalar", plain(scalars), "invalid_type"),
  "bytes that are not UTF-8": toCases("encoding", encodings(), "invalid_json"),
  "characters that can't be stored": toCases(
    "character",
    plain(characters.flatMap(inside)),
    "invalid_json",
  ),
  "keys that reach a prototype": toCases("pollution", plain(pollutions), "invalid_json"),
  "names that objects have of their own, and fields that are not the caller's": toCases(
    "assignment",
    plain([...inherited, ...owned].map((key) => `{"${key}":"x"}`)),
    "unrecognized_keys",
  ),
  "keys given twice": toCases("twice", plain(twice()), "invalid_json"),
  "keys that are cut in the error, but not within a character": toCases("long", plain(longKeys)),
} satisfies Record<string, Case[]>;
