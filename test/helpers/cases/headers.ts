import type { Case } from "../hostile.ts";
import { lines, oddBytes, shown, words } from "./lists.ts";

const post = { method: "POST", path: "/v1/api-keys", body: "{}" } as const;

const refusedKeys = [
  "",
  "x".repeat(256),
  "x".repeat(8_000),
  "caf\u00e9",
  "\u{1f600}",
  "\r\nset-cookie: a=b",
  "a\r\n\r\nb",
  "\u001b[31m",
  ...oddBytes.map((byte) => `a${byte}b`),
];
const takenKeys = [
  ...words('x "quoted" a;b=c %00 null {} __proto__ constructor ../../x <script> 0'),
  "a, b",
  "' or 1=1 --",
  " x",
  "x ",
  "x".repeat(255),
];

function idempotencyKeys(): Case[] {
  const withKey = (value: string) => ({
    ...post,
    name: `Idempotency-Key ${shown(value)}`,
    headers: { "idempotency-key": value },
  });
  const field = "headers.idempotency-key";
  return [
    ...refusedKeys.map((value) => ({ ...withKey(value), expect: 400, detail: { field } })),
    ...takenKeys.map((value) => ({ ...withKey(value), expect: 201 })),
    ...takenKeys.map((value) => ({ ...withKey(value), body: '{"name":"other"}', expect: 409 })),
  ];
}

const requestIds = [
  ...words('x a-b/c {"level":60} %0d%0a ../.. ~'),
  "",
  "a b",
  "x".repeat(200),
  "x".repeat(201),
  "x".repeat(10_000),
  "a\r\nset-cookie: b=c",
  "\u001b[2J",
  "\u202e",
  ...oddBytes.map((byte) => `a${byte}b`),
];

const wrongTypes = [
  ...lines(`
    text/plain
    text/json
    application/xml
    application/jsonx
    application/json x
    application/json;
    application/json, text/html
    text/html, application/json
    application/json; charset=
    application/json; charset=utf-7
    application/json; charset=utf-16
    application/json; charset=latin1
    application/json; charset=utf-8; x=y
    application/json; charset=utf-8, text/html
    application/json; boundary=x
    application/json-patch+json
    application/vnd.api+json
    application/x-www-form-urlencoded
    application/octet-stream
    multipart/form-data
    multipart/form-data; boundary=x
    application/
    /json
    json
    */*
    ;
    \u00e9`),
  "",
  " ",
  "application/json\u0000",
  `application/json${" ".repeat(8_000)}x`,
  `application/json; charset=${"u".repeat(8_000)}`,
];
const rightTypes = [
  ...lines(`
    application/json
    APPLICATION/JSON
    application/json;charset=utf-8
    application/json; charset=UTF-8
    application/json; charset="utf-8"
    application/json ; charset=utf-8`),
  "application/json\t",
];
const codings = words("gzip deflate br zstd compress identity x-gzip chunked gzip,gzip \u00e9 *");

function contents(): Case[] {
  const withHeader = (header: string, value: string) => ({
    ...post,
    name: `${header} ${shown(value)}`,
    headers: { [header]: value },
  });
  const refused = (header: string) => (value: string) => ({
    ...withHeader(header, value),
    expect: 400,
    detail: { field: `headers.${header}` },
  });
  return [
    ...wrongTypes.map(refused("content-type")),
    ...codings.map(refused("content-encoding")),
    ...rightTypes.map((type) => ({ ...withHeader("content-type", type), expect: 201 })),
  ];
}

const harmless = words(`
  accept accept-encoding accept-language cookie origin referer range if-match if-none-match te via user-agent
  cache-control content-language x-http-method-override x-original-url x-rewrite-url forwarded x-forwarded-for
  x-forwarded-host x-forwarded-proto x-real-ip x-client-ip __proto__ constructor`);
const values = [
  "",
  "*",
  "\u00e9".repeat(500),
  "x".repeat(8_000),
  "127.0.0.1",
  "DELETE /v1/api-keys",
];

export const headerCases = {
  "Idempotency-Key": idempotencyKeys(),
  "X-Request-ID": requestIds.map((value, i) => ({
    name: `X-Request-ID ${shown(value)}`,
    path: i % 2 ? "/v1/nothing" : "/v1/me",
    headers: { "x-request-id": value },
    expect: i % 2 ? 404 : 200,
  })),
  "Content-Type and Content-Encoding": contents(),
  "headers that mean nothing here": harmless.flatMap((name) =>
    values.map((value) => ({
      name: `${name}: ${shown(value)}`,
      path: "/v1/me",
      headers: { [name]: value },
      expect: 200,
    })),
  ),
} satisfies Record<string, Case[]>;
