import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { systemClock } from "../clock.ts";
import { createOutbound } from "../outbound/index.ts";
import { createTokenVerifier } from "./id-token.ts";
import { sign, signingKey, testIssuer } from "./issuers.testing.ts";
import type { SigningKey, TestIssuer } from "./issuers.testing.ts";

const [first, second] = await Promise.all([signingKey("first"), signingKey("second")]);
const minute = 60_000;
const hour = 60 * minute;

/** A verifier of its own for one issuer, with a clock that the test moves and the warnings it logged. */
function watch(issuer: TestIssuer) {
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => warnings.push(line) });
  let time = Date.now();
  const clock = { now: () => new Date(time) };
  const builtIn = {
    issuer: "http://localhost",
    audience: "-",
    loadKeys: () => Promise.resolve({ keys: [] }),
  };
  const outsideIssuers = [{ issuer: issuer.url, audience: "herald" }];
  const { fetchJson } = createOutbound({ log });
  const { verify } = createTokenVerifier({ builtIn, outsideIssuers, fetchJson, clock, log });
  return {
    warnings,
    pass: (ms: number) => (time += ms),
    check: async (key: SigningKey, header = {}): Promise<string> => {
      const iat = Math.floor(time / 1000);
      const claims = { iss: issuer.url, aud: "herald", sub: "user", iat, exp: iat + 300 };
      const result = await verify(await sign(key, claims, header));
      return "refused" in result ? result.refused : "accepted";
    },
  };
}

test("many tokens at once cost one read of the keys, which are then kept for ten minutes", async () => {
  const issuer = await testIssuer(first);
  const { check, pass } = watch(issuer);
  const results = await Promise.all(Array.from({ length: 50 }, () => check(first)));
  assert.deepEqual(new Set(results), new Set(["accepted"]));
  pass(9 * minute);
  await check(first);
  assert.equal(issuer.requests, 2);
  pass(2 * minute);
  await check(first);
  assert.equal(issuer.requests, 4);
});

test("a new key is picked up at its first use, and a removed one ends within ten minutes", async () => {
  const issuer = await testIssuer(first);
  const { check, pass } = watch(issuer);
  assert.equal(await check(first), "accepted");
  issuer.keys = [second];
  pass(31_000);
  assert.equal(await check(second), "accepted");
  assert.equal(await check(first), "key");
});

test("unknown keys cause one read in 30 seconds, however many tokens come", async () => {
  const issuer = await testIssuer(first);
  const { check, pass } = watch(issuer);
  await check(first);
  for (const kid of ["x", "y", "z"]) assert.equal(await check(second, { kid }), "key");
  assert.equal(issuer.keyRequests, 1);
  pass(31_000);
  await Promise.all(Array.from({ length: 50 }, (_, index) => check(second, { kid: `x${index}` })));
  assert.equal(issuer.keyRequests, 2);
});

test("while the issuer is down its known keys work for a day, and the log says so", async () => {
  const issuer = await testIssuer(first);
  const { check, pass, warnings } = watch(issuer);
  await check(first);
  issuer.fault = "down";
  const asked = issuer.requests;
  pass(11 * minute);
  const results = await Promise.all(Array.from({ length: 50 }, () => check(first)));
  assert.deepEqual(new Set(results), new Set(["accepted"]));
  assert.equal(await check(second), "key");
  assert.equal(issuer.requests, asked + 1);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /keys could not be read/);
  pass(23 * hour);
  assert.equal(await check(first), "accepted");
  pass(hour);
  assert.equal(await check(first), "keys_unavailable");
  issuer.fault = "none";
  pass(31_000);
  assert.equal(await check(first), "accepted");
});

test("an issuer that was never reached is asked once in 30 seconds", async () => {
  const issuer = await testIssuer(first);
  issuer.fault = "down";
  const { check, pass } = watch(issuer);
  for (let attempt = 0; attempt < 5; attempt++)
    assert.equal(await check(first), "keys_unavailable");
  assert.equal(issuer.requests, 1);
  issuer.fault = "none";
  pass(31_000);
  assert.equal(await check(first), "accepted");
});

test("a discovery document of another issuer, a redirect, and a key set that is none are not believed", async () => {
  for (const fault of ["other issuer", "redirect", "no keys"] as const) {
    const issuer = await testIssuer(first);
    issuer.fault = fault;
    const { check, warnings } = watch(issuer);
    assert.equal(await check(first), "keys_unavailable", fault);
    assert.equal(warnings.length, 1);
  }
});

test("without a key id the only fitting key is used; of two, none", async () => {
  const issuer = await testIssuer(first);
  const { check, pass } = watch(issuer);
  assert.equal(await check(first, { kid: undefined }), "accepted");
  issuer.keys = [first, second];
  pass(11 * minute);
  assert.equal(await check(first, { kid: undefined }), "key");
});

test("a new built-in key is found at once, and many tokens at once cost one read", async () => {
  let reads = 0;
  let keys = [first.jwk];
  const builtIn = {
    issuer: "http://localhost",
    audience: "http://localhost",
    loadKeys: async () => {
      reads += 1;
      return await Promise.resolve({ keys });
    },
  };
  const log = pino({ level: "silent" });
  const { fetchJson } = createOutbound({ log });
  const { verify } = createTokenVerifier({
    builtIn,
    outsideIssuers: [],
    fetchJson,
    clock: systemClock,
    log,
  });
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: builtIn.issuer, aud: builtIn.audience, sub: "user", iat, exp: iat + 300 };
  const [token, later] = [await sign(first, claims), await sign(second, claims)];
  await Promise.all(Array.from({ length: 50 }, () => verify(token)));
  assert.equal(reads, 1);
  assert.deepEqual(await verify(later), { refused: "key" });
  keys = [first.jwk, second.jwk];
  assert.deepEqual(await verify(later), await verify(token));
  assert.equal(reads, 3);
});
