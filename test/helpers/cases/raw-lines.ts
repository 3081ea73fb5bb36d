import { escaped, lines, words } from "./lists.ts";
import { get, health, host, refused } from "./raw.ts";
import type { RawCase, Row } from "./raw.ts";

const methods = ["", "G T", "G\0T", ...words("BREW get GETS GET, - PRI \u00e9")];
const targets = [
  "",
  "/he alth",
  "/he\0alth",
  ...words("health ?a=b localhost:80 \\health /caf\u00e9"),
];
const versions = lines(`
  HTTP/1.2
  HTTP/3.0
  HTTP/9.9
  http/1.1
  HTTP/1.1.1
  HTTP/11
  HTTP/1,1
  HTTP/-1.1
  HTTP /1.1
  HTTP/
  HTTP/1.1 x
  HTTPS/1.1
  1.1
  ICE/1.0`);
const badHeaders = escaped(String.raw`
  X: a\u0000b
  X: a\u0001b
  X: a\u001b[31m
  X: a\u007fb
  X: a\r\n b
  X: a\r\n\tb
  X:\r\n b
  X\t: y
  X\u0000: y
  X\u00e9: y
  X(: y
  X\": y
  X Y: z
  \u0020X: y
  \tX: y
  : x
  nocolon
  X-Request-ID: a\u001b[31m
  X-Request-ID: a\rb
  Idempotency-Key: a\u0000
  svc-api-key: a\nb`);

/** What is no request at all. */
export function lineCases(): RawCase[] {
  return refused([
    ...methods.map((method): Row => [
      `method "${method}"`,
      `${method} /health HTTP/1.1\r\n${host}\r\n`,
    ]),
    ...targets.map((target): Row => [`target "${target}"`, Buffer.from(get(target))]),
    ...versions.map((version): Row => [
      `version "${version}"`,
      `GET /health ${version}\r\n${host}\r\n`,
    ]),
    ["a space first", ` ${get("/health")}`],
    ["tabs between", `GET\t/health\tHTTP/1.1\r\n${host}\r\n`],
    ["bare line feeds", `GET /health HTTP/1.1\nHost: localhost\n\n`],
    ["one bare line feed", `GET /health HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n`],
    ["a bare line feed at the end", `GET /health HTTP/1.1\r\n${host}\n`],
    ["a bare carriage return", get("/health", `${host}X: a\rY: b\r\n`)],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a TLS hello", Buffer.from("16030100a5010000a10303", "hex")],
    ["NULs", Buffer.alloc(100)],
    ["0xFF", Buffer.alloc(100, 0xff)],
    ["an SSH greeting", "SSH-2.0-OpenSSH_9.0\r\n"],
    ["mail", "EHLO example\r\nMAIL FROM:<a@b.example>\r\n"],
  ]);
}

export function headerLineCases(): RawCase[] {
  const many = (count: number): string =>
    host + Array.from({ length: count - 1 }, (_, i) => `X-${i}: y\r\n`).join("");
  const parts = Array.from({ length: 100 }, () => "a".repeat(1_000));
  return [
    ...refused(
      badHeaders.map((line): Row => [JSON.stringify(line), get("/health", `${host}${line}\r\n`)]),
    ),
    ...refused(
      [
        ["a header of 17 KB", get("/health", `${host}X: ${"a".repeat(17_000)}\r\n`)],
        ["a header of 100 KB", get("/health", `${host}X: ${"a".repeat(100_000)}\r\n`)],
        [
          "a header of 100 KB in a hundred parts",
          [`GET /health HTTP/1.1\r\n${host}X: `, ...parts, "\r\n\r\n"],
        ],
        ["a name of 17 KB", get("/health", `${host}${"a".repeat(17_000)}: y\r\n`)],
        ["3,000 headers", get("/health", host + "X:\r\n".repeat(4_000))],
        ["a target of 17 KB", get(`/${"a".repeat(17_000)}`)],
      ],
      431,
    ),
    {
      name: "100 headers",
      bytes: get("/health", many(100)),
      route: health,
      expect: 200,
      isClosed: false,
    },
    ...[101, 300, 800].map((count) => ({
      name: `${count} headers`,
      bytes: get("/health", many(count)),
      route: health,
      expect: 431,
      isClosed: false,
    })),
    {
      name: "one name 101 times",
      bytes: get("/health", host + "X: y\r\n".repeat(101)),
      route: health,
      expect: 431,
      isClosed: false,
    },
  ];
}
