import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { testDatabase } from "../../test/helpers/database.ts";
import { PlatformError } from "../platforms/index.ts";
import { createSealer } from "../sealing.ts";
import { openAccount } from "./index.ts";
import { tokenPlace } from "./queries.ts";
import { findTokens } from "./token-queries.ts";
import { connectedAccount, newKey, rotateRefreshTokens, tokenDeps } from "./tokens.testing.ts";

const { db } = await testDatabase();
const { deps, clock, platform } = await tokenDeps(db);

const isUnreadable = (error: unknown): boolean =>
  error instanceof PlatformError &&
  error.kind === "retry" &&
  !/access-|refresh-/.test(error.message);

test("no token is anywhere in the row as it is", async () => {
  const key = await connectedAccount(deps);
  const { rows } = await db.query(
    "select a::text as row from connected_accounts a where user_id = $1",
    [key.userId],
  );
  assert.doesNotMatch(rows[0].row, /access-0|refresh-0/);
  assert.match(rows[0].row, /v1\.k1\./);
});

test("tokens swapped between rows, or between columns, do not open", async () => {
  const [one, other] = [await connectedAccount(deps), await connectedAccount(deps)];
  await db.query(
    `update connected_accounts a set access_token = b.access_token from connected_accounts b
     where a.user_id = $1 and b.user_id = $2`,
    [one.userId, other.userId],
  );
  await assert.rejects(openAccount(deps, one), isUnreadable);
  await db.query("update connected_accounts set access_token = refresh_token where user_id = $1", [
    other.userId,
  ]);
  await assert.rejects(openAccount(deps, other), isUnreadable);
});

test("ids that hold separators name places of their own", () => {
  const account = { platform: "linkedin", accountId: "1" } as const;
  assert.notEqual(
    tokenPlace({ ...account, userId: 'a","linkedin","1' }, "access_token"),
    tokenPlace({ ...account, userId: "a" }, "access_token"),
  );
});

test("1,000 bit flips are 1,000 clean failures, and cost no account its connection", async () => {
  const key = await connectedAccount(deps);
  const sealed = (await findTokens(db, key))?.accessToken ?? "";
  const [version, keyId, ...parts] = sealed.split(".");
  let failures = 0;
  for (let flip = 0; flip < 1_000; flip++) {
    const index = randomInt(parts.length);
    const bytes = Buffer.from(parts[index] ?? "", "base64url");
    const at = randomInt(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << randomInt(8));
    const flipped = [version, keyId, ...parts.with(index, bytes.toString("base64url"))].join(".");
    await db.query("update connected_accounts set access_token = $2 where user_id = $1", [
      key.userId,
      flipped,
    ]);
    await assert.rejects(openAccount(deps, key), isUnreadable);
    failures += 1;
  }
  assert.equal(failures, 1_000);
  assert.equal((await findTokens(db, key))?.status, "active");
});

test("a refresh token that can't be read is not sent, and not held against the account", async () => {
  const key = await connectedAccount(deps);
  await db.query("update connected_accounts set refresh_token = access_token where user_id = $1", [
    key.userId,
  ]);
  clock.forward(3_700_000);
  await assert.rejects(openAccount(deps, key), isUnreadable);
  assert.equal(platform.tokenForms().length, 0);
  assert.equal((await findTokens(db, key))?.status, "active");
});

test("with the key gone nothing opens; with it back everything does", async () => {
  rotateRefreshTokens(platform);
  const key = await connectedAccount(deps);
  await assert.rejects(
    openAccount({ ...deps, sealer: createSealer([newKey("k2")]) }, key),
    isUnreadable,
  );
  await openAccount(deps, key);
});
