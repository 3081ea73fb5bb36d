/** Bytes for a socket, and the statuses that are to come back for them, in order. */
export interface RawCase {
  name: string;
  bytes: string | Buffer | readonly (string | Buffer)[];
  expect: number | readonly number[];
  /** A status that would do as well. */
  orElse?: number;
  /** The route, where the bytes are a request for one that exists. */
  route?: readonly [method: string, path: string];
  /** Whether the connection is to be ended after the answer; a request follows on those that are not. */
  isClosed: boolean;
}

export const host = "Host: localhost\r\n";
export const get = (target: string, headers = host): string =>
  `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
export const health = ["GET", "/health"] as const;

export type Row = readonly [name: string, bytes: RawCase["bytes"]];
export const refused = (rows: readonly Row[], status = 400): RawCase[] =>
  rows.map(([name, bytes]) => ({ name, bytes, expect: status, isClosed: true }));

/** Headers and a body on the way to the route that makes keys. */
export type Post = (headers: string, body: string) => string;
export const postWith =
  (token: string): Post =>
  (headers, body) =>
    `POST /v1/api-keys HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
