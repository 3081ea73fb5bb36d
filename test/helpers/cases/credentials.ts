import type { Case } from "../hostile.ts";
import { lines, oddBytes, shown, words } from "./lists.ts";

const wrongKeys = [
  ...words(
    "sk_live_ sk_live_unknown sk_test_x SK_LIVE_X null undefined 0 * % %00 __proto__ constructor",
  ),
  ...lines(`
    [object Object]
    a, b
    Bearer x
    ' or '1'='1
    caf\u00e9
    \u{1f600}`),
  "",
  " ",
  "a".repeat(8_192),
  "sk_live_".repeat(1_000),
  ...oddBytes.map((byte) => `sk_live_${byte}`),
];

const segment = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const issuer = "http://localhost:3000";
const payloads = [
  null,
  0,
  "x",
  [],
  {},
  { iss: 1 },
  { iss: null },
  { iss: {} },
  { iss: "__proto__" },
  { iss: issuer },
  { iss: issuer, exp: "never", sub: {} },
];
const heads = [
  { alg: "none" },
  { alg: "HS256" },
  { alg: "EdDSA", kid: {} },
  { alg: 1 },
  null,
  [],
  "x",
];

const wrongTokens = [
  ...lines(`
    Bearer
    Bearer  x
    Bearer a b
    Bearer x
    Bearer ..
    Bearer a.b
    Bearer a.b.c
    Bearer a.b.c.d.e
    bearer x.y.z
    Bearer %00
    Bearer null
    Bearer \u00e9.\u00e9.\u00e9
    Basic YTpi
    Token x
    Digest a=b
    Negotiate`),
  "",
  "Bearer ",
  "Bearer\tx",
  `Bearer ${"a".repeat(15_000)}`,
  `Bearer ${"a.".repeat(5_000)}`,
  ...payloads.flatMap((payload) =>
    heads.map((head) => `Bearer ${segment(head)}.${segment(payload)}.${segment("x")}`),
  ),
];

export const credentialCases = {
  "svc-api-key": wrongKeys.map((value) => ({
    name: `svc-api-key ${shown(value)}`,
    path: "/v1/me",
    headers: { "svc-api-key": value },
    expect: 401,
  })),
  Authorization: wrongTokens.map((value, i) => ({
    name: `Authorization ${shown(value)}`,
    path: i % 2 ? "/v1/api-keys" : "/api/v1/api-keys",
    headers: { authorization: value },
    expect: 401,
  })),
} satisfies Record<string, Case[]>;
