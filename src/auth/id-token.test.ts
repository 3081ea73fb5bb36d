import assert from "node:assert/strict";
import { createHmac, createPublicKey } from "node:crypto";
import { test } from "node:test";
import { exportSPKI } from "jose";
import type { JWTPayload } from "jose";
import { pino } from "pino";
import { systemClock } from "../clock.ts";
import { createOutbound } from "../outbound/index.ts";
import { createTokenVerifier } from "./id-token.ts";
import type { Refusal } from "./id-token.ts";
import { sign, signingKey, testIssuer } from "./issuers.testing.ts";

const log = pino({ level: "silent" });
const audience = "herald";
const builtInUrl = "http://localhost:3000";
const [key, stranger, builtInKey] = await Promise.all([
  signingKey("k1"),
  signingKey("k1"),
  signingKey("b1", "EdDSA"),
]);
const issuer = await testIssuer(key);
const twin = await testIssuer(stranger);
const { verify } = createTokenVerifier({
  builtIn: {
    issuer: builtInUrl,
    audience: builtInUrl,
    loadKeys: () => Promise.resolve({ keys: [builtInKey.jwk] }),
  },
  outsideIssuers: [
    { issuer: issuer.url, audience },
    { issuer: issuer.url, audience: "herald-app" },
    { issuer: twin.url, audience },
  ],
  fetchJson: createOutbound({ log }).fetchJson,
  clock: systemClock,
  log,
});

const seconds = () => Math.floor(Date.now() / 1000);
const claims = (changed: JWTPayload = {}): JWTPayload => ({
  iss: issuer.url,
  aud: audience,
  sub: "user-1",
  iat: seconds(),
  exp: seconds() + 300,
  ...changed,
});
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

async function refused(reason: Refusal, token: string): Promise<void> {
  assert.deepEqual(await verify(token), { refused: reason });
}

test("a good token of an outside issuer is its user", async () => {
  const user = await verify(await sign(key, claims({ email: "a@example.com", name: "A" })));
  assert.ok("userId" in user);
  assert.match(user.userId, /^oidc_[0-9a-f]{32}$/);
  assert.deepEqual(
    { ...user, userId: "" },
    { userId: "", issuer: issuer.url, email: "a@example.com", name: "A" },
  );
});

test("every algorithm on the list works", async () => {
  for (const alg of [
    "EdDSA",
    "ES384",
    "ES512",
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
  ]) {
    const other = await signingKey(`of ${alg}`, alg);
    const its = await testIssuer(other);
    const verifier = createTokenVerifier({
      builtIn: {
        issuer: builtInUrl,
        audience: builtInUrl,
        loadKeys: () => Promise.resolve({ keys: [] }),
      },
      outsideIssuers: [{ issuer: its.url, audience }],
      fetchJson: createOutbound({ log }).fetchJson,
      clock: systemClock,
      log,
    });
    assert.ok(
      "userId" in (await verifier.verify(await sign(other, claims({ iss: its.url })))),
      alg,
    );
  }
});

test("the same subject of two issuers, or of ours, is three users", async () => {
  const tokens = [
    await sign(key, claims()),
    await sign(stranger, claims({ iss: twin.url })),
    await sign(builtInKey, claims({ iss: builtInUrl, aud: builtInUrl })),
  ];
  const users = await Promise.all(tokens.map((token) => verify(token)));
  assert.equal(new Set(users.map((user) => "userId" in user && user.userId)).size, 3);
  const again = await verify(await sign(key, claims({ jti: "another token" })));
  assert.deepEqual(again, users[0]);
});

test("a token without a signature is refused", async () => {
  await refused("algorithm", `${part({ alg: "none" })}.${part(claims())}.`);
  await refused("algorithm", `${part({ alg: "None", kid: "k1" })}.${part(claims())}.`);
  await refused("malformed", `${part({})}.${part(claims())}.`);
});

test("the public key is not taken for a shared secret", async () => {
  const pem = await exportSPKI(key.publicKey);
  const der = createPublicKey(pem).export({ type: "spki", format: "der" });
  for (const secret of [pem, der, JSON.stringify(key.jwk)]) {
    const signed = `${part({ alg: "HS256", kid: "k1" })}.${part(claims())}`;
    await refused(
      "algorithm",
      `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`,
    );
  }
});

test("keys that the token brings along, or points at, are not used", async () => {
  const lures = { jwk: stranger.jwk, jku: `${twin.url}/keys`, x5u: `${twin.url}/keys` };
  await verify(await sign(stranger, claims({ iss: twin.url })));
  const asked = twin.requests;
  for (const [name, value] of Object.entries(lures)) {
    await refused("signature", await sign(stranger, claims(), { [name]: value }));
    await refused("key", await sign(stranger, claims(), { [name]: value, kid: "k2" }));
  }
  await refused("key", await sign(stranger, claims(), { kid: `${twin.url}/keys` }));
  await refused("key", await sign(stranger, claims(), { kid: "../../../dev/null" }));
  assert.equal(twin.requests, asked);
});

test("a token signed by another's key of the same name is refused", async () => {
  await refused("signature", await sign(stranger, claims()));
  await refused("signature", await sign(key, claims({ iss: twin.url })));
  await refused("key", await sign(key, claims({ iss: builtInUrl, aud: builtInUrl })));
});

test("issuer and audience must be exactly ours", async () => {
  await refused("issuer", await sign(key, claims({ iss: "https://evil.example" })));
  await refused("issuer", await sign(key, claims({ iss: `${issuer.url}/` })));
  await refused("malformed", await sign(key, claims({ iss: undefined })));
  for (const aud of ["other", "Herald", "", `${audience} `, [], [audience, "other"], undefined]) {
    await refused("audience", await sign(key, claims({ aud })));
  }
  assert.ok("userId" in (await verify(await sign(key, claims({ aud: ["herald-app", audience] })))));
  await refused("audience", await sign(stranger, claims({ iss: twin.url, aud: "herald-app" })));
});

test("times are checked, with half a minute of tolerance", async () => {
  await refused("expired", await sign(key, claims({ exp: seconds() - 31 })));
  await refused("not_yet_valid", await sign(key, claims({ nbf: seconds() + 40 })));
  await refused("not_yet_valid", await sign(key, claims({ iat: seconds() + 40 })));
  await refused("claims", await sign(key, claims({ exp: undefined })));
  await refused("claims", await sign(key, claims({ iat: undefined })));
  const skewed = claims({ exp: seconds() - 20, nbf: seconds() + 20, iat: seconds() + 20 });
  assert.ok("userId" in (await verify(await sign(key, skewed))));
});

test("claims of the wrong kind are refused", async () => {
  const wrong: Record<string, unknown>[] = [
    { sub: "" },
    { sub: undefined },
    { sub: 1 },
    { sub: "s".repeat(256) },
    { exp: "tomorrow" },
    { iat: "today" },
    { nbf: {} },
  ];
  for (const changed of wrong) await refused("claims", await sign(key, claims(changed)));
  await refused(
    "issuer",
    await sign(key, { ...claims(), iss: [issuer.url] } as unknown as JWTPayload),
  );
});

test("a token that is not an ID token is refused", async () => {
  for (const typ of ["at+jwt", "application/at+jwt", "logout+jwt", "dpop+jwt"]) {
    await refused("type", await sign(key, claims(), { typ }));
  }
  assert.ok("userId" in (await verify(await sign(key, claims(), { typ: "JWT" }))));
});

test("garbage is refused without an exception and without a call", async () => {
  const good = await sign(key, claims());
  const [header = "", payload = "", signature = ""] = good.split(".");
  const asked = issuer.requests;
  for (const token of [
    "",
    ".",
    "..",
    "a.b.c",
    "svc_live_key",
    `${good}.x.y`,
    `${header}.${payload}`,
    "\0",
    "é.é.é",
  ]) {
    await refused("malformed", token);
  }
  await refused("malformed", "a".repeat(100_000));
  await refused("malformed", await sign(key, claims({ padding: "p".repeat(100_000) })));
  await refused("malformed", `${header}.${part([claims()])}.${signature}`);
  for (let length = 0; length < good.length; length += 7)
    assert.ok("refused" in (await verify(good.slice(0, length))));
  // All but the last character, of whose six bits four are padding that no decoder reads.
  for (let at = 0; at < good.length - 1; at += 5) {
    const changed = good.slice(0, at) + (good[at] === "A" ? "B" : "A") + good.slice(at + 1);
    assert.ok("refused" in (await verify(changed)), `character ${at}`);
  }
  assert.ok(issuer.requests - asked <= 2);
});

test("a critical header that is not understood is refused", async () => {
  const signed = `${part({ alg: "ES256", kid: "k1", crit: ["x"], x: 1 })}.${part(claims())}.${"A".repeat(86)}`;
  assert.ok("refused" in (await verify(signed)));
});

test("the built-in issuer may not be listed as an outside one", () => {
  const builtIn = {
    issuer: builtInUrl,
    audience: builtInUrl,
    loadKeys: () => Promise.resolve({ keys: [] }),
  };
  const outsideIssuers = [{ issuer: builtInUrl, audience }];
  const { fetchJson } = createOutbound({ log });
  assert.throws(() =>
    createTokenVerifier({ builtIn, outsideIssuers, fetchJson, clock: systemClock, log }),
  );
});
