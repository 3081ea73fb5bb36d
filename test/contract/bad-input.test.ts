import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bodyCases } from "../helpers/cases/bodies.ts";
import { credentialCases } from "../helpers/cases/credentials.ts";
import { fieldCases, nameCases } from "../helpers/cases/fields.ts";
import type { Described } from "../helpers/cases/fields.ts";
import { headerCases } from "../helpers/cases/headers.ts";
import { sizeCases } from "../helpers/cases/sizes.ts";
import { tellingStrings } from "../helpers/cases/strings.ts";
import { hostileApp } from "../helpers/hostile.ts";
import type { Case } from "../helpers/hostile.ts";

const { app, deps, run, runAll, undocumented, caseCount } = await hostileApp();
const keys = "/v1/api-keys";
const ownPrototype = Object.getOwnPropertyNames(Object.prototype).sort();

const document = (await app.inject({ url: "/openapi.json" })).json<Described>();
const [nulls, fields] = [true, false].map((isNull) =>
  fieldCases(document).filter(({ body }) => (body === "null") === isNull),
);

test("every field of every body is refused by its name when it is wrong", async (t) => {
  await runAll(t, fields ?? []);
});

test("a key's name has 1 to 100 characters", async (t) => {
  await runAll(t, nameCases);
});

test("a body of null is not the same as no body", async (t) => {
  await runAll(t, nulls ?? []);
});

for (const [group, cases] of Object.entries({ ...bodyCases, ...headerCases, ...credentialCases })) {
  test(`${group}: refused or taken as documented, and nothing is left behind`, async (t) => {
    await runAll(t, cases);
  });
}

test("a name that means something elsewhere is kept as it is", async (t) => {
  const expected = tellingStrings.map((name) => ({ name, body: JSON.stringify({ name }) }));
  await runAll(
    t,
    expected.map(({ name, body }) => ({ name, method: "POST", path: keys, body, expect: 201 })),
  );
  const answer = await run({ name: "the list", path: keys, expect: 200 });
  const listed = (JSON.parse(answer.body) as { keys: { name: string }[] }).keys;
  const names = new Set(listed.map(({ name }) => name));
  assert.deepEqual(
    tellingStrings.filter((name) => !names.has(name)),
    [],
  );
});

test("1 MB is taken and one byte more is not, whatever it is made of", async (t) => {
  await runAll(t, sizeCases());
});

const badKey = { "idempotency-key": "" };
const misplaced: Case[] = [
  ...["/health", "/v1/me", "/v1/api-keys", "/api/v1/api-keys", "/docs"].flatMap((path) => [
    { name: `HEAD ${path}`, method: "HEAD" as const, path, expect: 200 },
    {
      name: `HEAD ${path} without a credential`,
      method: "HEAD" as const,
      path,
      isAnonymous: true,
      expect: [200, 401],
    },
  ]),
  ...["/health", "/docs", "/openapi.json", "/v1/me", "/v1/api-keys", "/api/v1/api-keys"].map(
    (path) => ({ name: `GET ${path}`, path, headers: badKey, expect: [200, 400] }),
  ),
  ...["/livez", "/readyz"].map((path) => ({
    name: `GET ${path}`,
    path,
    headers: badKey,
    isAnonymous: true,
    expect: [200, 400],
  })),
  ...["{", "[]", '{"a":1}', "x".repeat(1_048_577)].map((body) => ({
    name: `DELETE with ${body.slice(0, 10)}`,
    method: "DELETE" as const,
    body,
    path: "/v1/api-keys/unknown",
    expect: [400, 404, 413],
  })),
  ...["{", "[]", "x".repeat(1_048_577)].map((body) => ({
    name: `GET with ${body.slice(0, 10)}`,
    body,
    path: "/v1/me",
    expect: 200,
  })),
];

test("what a route does not ask for does it no harm", async (t) => {
  await runAll(t, misplaced);
});

test("no route answers a status that the reference does not name", () => {
  assert.deepEqual([...undocumented].sort(), []);
});

test("no request has changed what all objects share", () => {
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype).sort(), ownPrototype);
});

test("after all of it every connection is back in the pool and the service answers", async () => {
  const { status } = await run({ name: "me", path: "/v1/me", expect: 200 });
  assert.equal(status, 200);
  assert.deepEqual([deps.db.waitingCount, deps.db.idleCount], [0, deps.db.totalCount]);
});

after(() => process.stdout.write(`# bad input: ${caseCount()} cases\n`));
