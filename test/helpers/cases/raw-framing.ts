import { escaped, words } from "./lists.ts";
import { get, refused } from "./raw.ts";
import type { Post, RawCase, Row } from "./raw.ts";

const lengths = ["", "2 2", "2, 2", ...words("+2 -1 -0 0x2 1e1 2,2 2; \u00b2 NaN")];
const codings = escaped(String.raw`
  xchunked
  chunked, identity
  chunked, chunked
  chunked;
  chunked gzip
  chunked\u0000
  \"chunked\"
  \u000bchunked
  \u00a0chunked
  identity
  gzip
  \u0020`);
const badChunks = escaped(String.raw`
  g\r\n
  -2\r\n{}\r\n
  0x2\r\n{}\r\n
  2 \r\n{}\r\n
  \u00202\r\n{}\r\n
  \r\n{}\r\n
  2\n{}\n
  2\r{}\r\n
  2;\n{}\r\n
  2\r\n{}0\r\n
  2\r\n{}\n0\r\n\r\n
  3\r\n{}\r\n
  1\r\n{}\r\n
  ffffffffffffffffff\r\n
  2\r\n{}\r\n0\r\nbad trailer\r\n\r\n
  2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n
  2\r\n{}\r\n0\r\nA\u0000: b\r\n\r\n`).concat(`2;${"x".repeat(20_000)}\r\n{}\r\n`);

/** Where a body ends must never be in doubt: whoever stands in front of the service might see it otherwise. */
export function framingCases(post: Post): RawCase[] {
  const chunks = "2\r\n{}\r\n0\r\n\r\n";
  const both = "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n";
  const smuggled = get("/v1/nothing");
  return refused([
    ["Transfer-Encoding and Content-Length", post(both, chunks)],
    [
      "the same in the other order",
      post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", chunks),
    ],
    ["both, with a request inside", post(both, `0\r\n\r\n${smuggled}`)],
    ["two lengths", post("Content-Length: 2\r\nContent-Length: 3\r\n", "{} ")],
    ["two equal lengths", post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}")],
    ["two codings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunks)],
    ["a space before the colon of the length", post("Content-Length : 2\r\n", "{}")],
    ["a space before the colon of the coding", post("Transfer-Encoding : chunked\r\n", chunks)],
    ["a length that no number holds", post(`Content-Length: ${"9".repeat(30)}\r\n`, "{}")],
    ...lengths.map((length): Row => [
      `length "${length}"`,
      post(`Content-Length: ${length}\r\n`, "{}"),
    ]),
    ...codings.map((coding): Row => [
      `coding "${coding}"`,
      post(`Transfer-Encoding: ${coding}\r\n`, chunks),
    ]),
    ...badChunks.map((text): Row => [
      `chunk ${JSON.stringify(text.slice(0, 24))}`,
      post("Transfer-Encoding: chunked\r\n", text),
    ]),
  ]);
}
