import assert from "node:assert/strict";
import { test } from "node:test";
import { createRegistry, platformNames } from "./index.ts";

const url = "https://example.com";
const registry = createRegistry({
  linkedin: {
    authUrl: url,
    tokenUrl: url,
    userinfoUrl: url,
    profileUrl: url,
    ugcUrl: url,
    webUrl: url,
    clientId: "id",
    clientSecret: "secret",
    refusesRepeatsForMs: 480_000,
  },
});

test("every platform is known by its name and its aliases", () => {
  for (const name of platformNames) assert.equal(registry.resolve(name), name);
  const aliases = { x: "twitter", facebook_pages: "facebook", network: "linkedin" };
  for (const [alias, name] of Object.entries(aliases)) assert.equal(registry.resolve(alias), name);
});

test("nothing else is a platform", () => {
  for (const value of ["", "LinkedIn", " linkedin", "linkedin_pages", "__proto__", "constructor"]) {
    assert.equal(registry.resolve(value), undefined);
  }
});

test("a platform without an adapter is known and has none", () => {
  const withAdapter = platformNames.filter((name) => registry.get(name));
  assert.deepEqual(withAdapter, ["linkedin"]);
  assert.deepEqual(
    registry.all().map(({ name }) => name),
    withAdapter,
  );
  for (const { name, aliases } of registry.all()) {
    for (const alias of aliases) assert.equal(registry.resolve(alias), name);
  }
});
