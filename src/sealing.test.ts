import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createSealer } from "./sealing.ts";

const older = { id: "k1", key: randomBytes(32) };
const newer = { id: "k2", key: randomBytes(32) };

test("a sealed value opens in its place and nowhere else", () => {
  const sealer = createSealer([older]);
  const sealed = sealer.seal("secret ✓", "accounts/1/token");
  assert.equal(sealer.open(sealed, "accounts/1/token"), "secret ✓");
  assert.throws(() => sealer.open(sealed, "accounts/2/token"));
});

test("the same value is sealed differently each time", () => {
  const sealer = createSealer([older]);
  assert.notEqual(sealer.seal("a", "p"), sealer.seal("a", "p"));
});

test("any flipped bit is noticed", () => {
  const sealer = createSealer([older]);
  const [version, keyId, ...parts] = sealer.seal("a token of some length", "p").split(".");
  for (const [index, part] of parts.entries()) {
    for (let bit = 0; bit < Buffer.from(part, "base64url").length * 8; bit++) {
      const bytes = Buffer.from(part, "base64url");
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const flipped = parts.with(index, bytes.toString("base64url"));
      assert.throws(
        () => sealer.open([version, keyId, ...flipped].join("."), "p"),
        `part ${index}, bit ${bit}`,
      );
    }
  }
});

test("a new key in front writes, and what the old key wrote still opens", () => {
  const before = createSealer([older]).seal("a", "p");
  const rotated = createSealer([newer, older]);
  assert.equal(rotated.open(before, "p"), "a");
  assert.equal(rotated.isCurrent(before), false);
  assert.equal(rotated.isCurrent(rotated.seal("a", "p")), true);
  assert.throws(() => createSealer([newer]).open(before, "p"));
});
