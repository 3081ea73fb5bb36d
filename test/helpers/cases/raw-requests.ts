import { get, health, host } from "./raw.ts";
import type { Post, RawCase, Row } from "./raw.ts";

const create = ["POST", "/v1/api-keys"] as const;

/** Odd, but HTTP: methods, forms of the address, expectations, upgrades, chunks, sizes. */
export function requestCases(post: Post): RawCase[] {
  const upgrade = "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
  const methods = "TRACE OPTIONS PUT PATCH PROPFIND LOCK LINK PURGE SEARCH M-SEARCH REPORT".split(
    " ",
  );
  const over = (1_048_577).toString(16);
  const open = (
    rows: readonly (readonly [...Row, RawCase["expect"]])[],
    route?: RawCase["route"],
  ) =>
    rows.map(([name, bytes, expect]): RawCase => ({ name, bytes, expect, route, isClosed: false }));
  return [
    ...open(methods.map((method) => [method, `${method} /v1/me HTTP/1.1\r\n${host}\r\n`, 404])),
    ...open(["*", "/../health", "//health", "http://x"].map((to) => [`GET ${to}`, get(to), 404])),
    ...open([["OPTIONS *", `OPTIONS * HTTP/1.1\r\n${host}\r\n`, 404]]),
    ...open(
      [
        ["a whole address", get("http://localhost/health"), 200],
        ["empty lines first", `\r\n\r\n${get("/health")}`, 200],
        ["a byte at a time", Array.from(get("/health")), 200],
        ["twenty at once", get("/health").repeat(20), Array.from({ length: 20 }, () => 200)],
        [
          "Upgrade: websocket",
          get("/health", `${host}Connection: Upgrade\r\nUpgrade: websocket\r\n`),
          200,
        ],
        ["Upgrade: h2c", get("/health", `${host}${upgrade}Upgrade: h2c\r\n`), 200],
        [
          "a body with GET",
          `${get("/health", `${host}Content-Length: 42\r\n`)}${get("/v1/nothing")}`,
          200,
        ],
        [
          "chunks with GET",
          `${get("/health", `${host}Transfer-Encoding: chunked\r\n`)}2\r\n{}\r\n0\r\n\r\n`,
          200,
        ],
      ],
      health,
    ),
    ...open(
      [
        [
          "a list of keys",
          post("Content-Length: 2\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n", "{}"),
          201,
        ],
        ["no key", post("Content-Length: 2\r\nIdempotency-Key:\r\n", "{}"), 400],
        [
          "Expect: 100-continue",
          [post("Content-Length: 2\r\nExpect: 100-continue\r\n", ""), "{}"],
          [100, 201],
        ],
        [
          "chunks",
          post("Transfer-Encoding: chunked\r\n", "1;a=b\r\n{\r\n1\r\n}\r\n0\r\nX: y\r\n\r\n"),
          201,
        ],
        [
          "chunks of 1 MB",
          post(
            "Transfer-Encoding: chunked\r\n",
            `100000\r\n{}${" ".repeat(1_048_574)}\r\n0\r\n\r\n`,
          ),
          201,
        ],
      ],
      create,
    ),
    ...[
      [
        "chunks of 1 MB and a byte",
        post("Transfer-Encoding: chunked\r\n", `${over}\r\n${"x".repeat(1_048_577)}\r\n0\r\n\r\n`),
      ],
      [
        "chunks of 8 MB",
        post("Transfer-Encoding: chunked\r\n", `800000\r\n${"x".repeat(8_388_608)}\r\n0\r\n\r\n`),
      ],
      ["8 MB", post("Content-Length: 8388608\r\n", "x".repeat(8_388_608))],
      ["8 MB announced", post("Content-Length: 8388608\r\n", "")],
      [
        "1 MB and a byte, and a request",
        post("Content-Length: 1048577\r\n", `${"x".repeat(1_048_577)}${get("/health")}`),
      ],
    ].map(([name = "", bytes = ""]): RawCase => ({
      name,
      bytes,
      expect: 413,
      route: create,
      isClosed: true,
    })),
    {
      name: "Expect: 100-continue, then no JSON",
      route: create,
      isClosed: true,
      bytes: [post("Content-Length: 1\r\nExpect: 100-continue\r\n", ""), "{"],
      expect: [100, 400],
    },
    ...["HTTP/1.0\r\n", `HTTP/1.0\r\n${host}`, `HTTP/1.1\r\n${host}Connection: close\r\n`].map(
      (version): RawCase => ({
        name: JSON.stringify(version),
        bytes: `GET /health ${version}\r\n`,
        route: health,
        expect: 200,
        isClosed: true,
      }),
    ),
  ];
}
