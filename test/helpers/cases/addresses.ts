import { words } from "./lists.ts";
import { host } from "./raw.ts";
import type { RawCase } from "./raw.ts";

const encoded = (byte: number): string => `%${byte.toString(16).padStart(2, "0")}`;
const bytes = Array.from({ length: 128 }, (_, byte) => byte);

// Ids that are no ids, in every spelling that a path can carry.
const ids = [
  ...bytes.filter((byte) => byte !== 0).map((byte) => `a${encoded(byte)}b`),
  ...bytes
    .filter((byte) => byte > 0x20 && !/[/?#%]/.test(String.fromCharCode(byte)) && byte < 0x7f)
    .map((byte) => `a${String.fromCharCode(byte)}b`),
  ...words(`
    %2e %2e%2e %2e%2e%2f %2f %5c ..%2f..%2fetc%2fpasswd %252e%252e %2500 %25zz %25 %20 %09 %7f %0d%0aset-cookie:%20a=b
    %c3%a9 %f0%9f%98%80 %e2%80%ae %EF%BB%BF %C2%85 %E2%80%A8 ;a=b a;b a,b a:b @ * $ ~ -- ' %27%20or%201=1 __proto__
    constructor null undefined 0 -1 1e400 true [] {} .hidden id.json a.b.c sk_live_x`),
  "x".repeat(64),
  "x".repeat(200),
  "A".repeat(64),
  "%61".repeat(64),
  "0".repeat(64),
];
const longIds = ["x".repeat(201), "x".repeat(500), "%C3%A9".repeat(201)];
const tooLongIds = ["x".repeat(501), "x".repeat(10_000), "%61".repeat(4_000)];
// Not UTF-8, or no encoding at all.
const brokenIds = words(`
  % %z %zz %1 a% %a %-1 %u0041 %ff %80 %c0%af %c3 %ed%a0%80 %f8%88%80%80%80 %f4%90%80%80`);

const nowhere = [
  ...words(String.raw`
    // /// /. /.. /\x /v1 /v1/ /v1/me/ //v1/me /v1//me /V1/me /v1/Me /v1/me%2f /v1%2fme /v1/./me /v1/x/../me
    /%76%31/nothing /v1/me;x /v1/me%20 /v1/me%00 /v1/me.json /v1/me. /api /api/ /api/v1 /api/v1/ /api/auth /api/auth/
    /v1/api-keys/ /v1/api-keys/x/ /v1/api-keys/a/b /v1/api-keys%2fx /..%2f..%2fetc/passwd /%2e%2e/%2e%2e/etc/passwd
    /static/../../x /health/ /health/x /healthz /livez/ /docs/ /docs/x /openapi.yaml /metrics /.env /.git/config
    /wp-login.php /api/auth/callback /api/auth/sign-in/social /api/auth/list-sessions /api/auth/update-user
    /api/auth/delete-user /api/auth/change-email /api/auth/set-password /api/auth/reset-password
    /api/auth/verify-email /api/auth/error /api/auth/ok /nothing?__proto__[x]=1&constructor=2&a=%zz`),
  `/${"a/".repeat(2_000)}`,
  `/${"a".repeat(10_000)}`,
  `/v1/${"%41".repeat(3_000)}`,
  `/nothing?${"a=b&".repeat(3_000)}`,
  ...brokenIds.map((broken) => `/v1/${broken}`),
];

const pathOf = (target: string): string => target.split(/[?#]/)[0] ?? "";

/** One address after the other on one kind of connection; those that are not there stay 404, whatever their spelling. */
export function addressCases(token: string): RawCase[] {
  const ask = (method: string, target: string, expect: number): RawCase => ({
    name: `${method} ${target.slice(0, 60)} (${target.length})`,
    bytes: `${method} ${target} HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\n\r\n`,
    route: [method, pathOf(target)],
    expect,
    isClosed: false,
  });
  const remove = (list: readonly string[], expect: number) =>
    list.map((id, i) => ({
      ...ask("DELETE", `${i % 2 ? "" : "/api"}/v1/api-keys/${id}`, expect),
      orElse: 400,
    }));
  return [
    ...remove(ids, 404),
    ...remove(longIds, 400),
    ...remove([...tooLongIds, ...brokenIds], 404),
    ...nowhere.map((target) => ask("GET", target, 404)),
    ...["/health?a=%zz", "/health?", "/health?__proto__=1", "/health?a[b]=c&a=1", "/health#x"].map(
      (target) => ask("GET", target, 200),
    ),
  ];
}

/** The one character that a database can't store, where an address may hold it. */
export function nulAddressCases(token: string): RawCase[] {
  return ["%00", "a%00b", "%00%00", "x%00.json", `${"a".repeat(63)}%00`].map((id) => ({
    name: `DELETE ${id}`,
    bytes: `DELETE /v1/api-keys/${id} HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\n\r\n`,
    route: ["DELETE", `/v1/api-keys/${id}`],
    expect: 404,
    orElse: 400,
    isClosed: false,
  }));
}
