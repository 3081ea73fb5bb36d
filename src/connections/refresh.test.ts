import assert from "node:assert/strict";
import { after, test } from "node:test";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { createPool, inTransaction, serviceRole } from "../db/index.ts";
import { PlatformError } from "../platforms/index.ts";
import { json } from "./connections.testing.ts";
import { markNeedsReconnect, openAccount } from "./index.ts";
import type { AccountKey } from "./queries.ts";
import { claimRefresh, findTokens, replaceTokens } from "./token-queries.ts";
import type { TokenRow } from "./token-queries.ts";
import { connectedAccount, rotateRefreshTokens, tokenDeps, tokenSeen } from "./tokens.testing.ts";

const { db, owner, url } = await testDatabase();
const minute = 60_000;

async function rowOf(key: AccountKey): Promise<TokenRow> {
  return (await findTokens(db, key)) ?? assert.fail("the account is gone");
}

async function failsAs(kind: PlatformError["kind"], opening: Promise<unknown>): Promise<void> {
  await assert.rejects(opening, (error) => error instanceof PlatformError && error.kind === kind);
}

test("20 workers at once and 10 expired accounts make 10 refreshes, and nobody loses an account", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const refused = rotateRefreshTokens(platform);
  const keys = await Promise.all(
    Array.from({ length: 10 }, async () => await connectedAccount(deps)),
  );
  for (let round = 1; round <= 3; round++) {
    clock.forward(61 * minute);
    const opened = await Promise.all(
      keys.flatMap((key) => Array.from({ length: 20 }, async () => await openAccount(deps, key))),
    );
    assert.equal(opened.length, 200);
    assert.equal(platform.tokenForms().length, 10 * round);
    for (const key of keys) {
      const { tokenVersion, status } = await rowOf(key);
      assert.equal(status, "active");
      const ofKey = opened.filter(({ account }) => account.userId === key.userId);
      assert.ok(ofKey.every(({ account }) => account.tokenVersion === tokenVersion));
    }
  }
  assert.equal(refused.count, 0);
});

test("no connection and no transaction is held while the platform is asked", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const key = await connectedAccount(deps);
  clock.forward(61 * minute);
  const asked = Promise.withResolvers<() => void>();
  platform.token = (_asked, response) =>
    asked.resolve(() =>
      json(response, 200, { access_token: "new", token_type: "bearer", expires_in: 3_600 }),
    );
  const opening = openAccount(deps, key);
  const answer = await asked.promise;
  assert.equal(db.idleCount, db.totalCount);
  assert.equal(db.waitingCount, 0);
  answer();
  assert.equal(await tokenSeen(platform, await opening), "Bearer new");
  // The reply brought no refresh token: the old one stands.
  const { refreshToken } = await rowOf(key);
  assert.ok(refreshToken);
});

test("a refused refresh token marks the account, once, and is not tried again", async () => {
  for (const error of ["invalid_grant", "invalid_request"]) {
    const { deps, clock, platform } = await tokenDeps(db);
    const key = await connectedAccount(deps);
    platform.token = (_asked, response) =>
      json(response, 400, { error, error_description: "x".repeat(2_000) });
    clock.forward(61 * minute);
    await Promise.all(
      Array.from({ length: 5 }, async () => await failsAs("reconnect", openAccount(deps, key))),
    );
    assert.equal((await rowOf(key)).status, "needs_reconnect");
    assert.equal(platform.tokenForms().length, 1);
  }
});

test("a worker whose refresh is refused looks first whether another has the new token", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const key = await connectedAccount(deps);
  clock.forward(61 * minute);
  const row = await rowOf(key);
  platform.token = (_asked, response) => {
    // The other one was paused for longer than its right lasted, and stores what it got just now.
    const tokens = { accessToken: "of-the-other", refreshToken: "r", scope: "", expiresIn: 3_600 };
    const expiresAt = new Date(clock.now().getTime() + 60 * minute);
    void replaceTokens(db, deps.sealer, row, { ...tokens, expiresAt, refreshExpiresAt: null }).then(
      () => json(response, 400, { error: "invalid_grant" }),
    );
  };
  const opened = await openAccount(deps, key);
  assert.equal(await tokenSeen(platform, opened), "Bearer of-the-other");
  assert.equal((await rowOf(key)).status, "active");
});

test("a new token that arrives after the account was marked heals it", async () => {
  const { deps, clock } = await tokenDeps(db);
  const key = await connectedAccount(deps);
  const row = await rowOf(key);
  assert.equal(await markNeedsReconnect(db, row), true);
  assert.equal(await markNeedsReconnect(db, row), false);
  const expiresAt = new Date(clock.now().getTime() + 60 * minute);
  const tokens = { accessToken: "late", refreshToken: "r", scope: "", expiresIn: 3_600, expiresAt };
  assert.equal(
    await replaceTokens(db, deps.sealer, row, { ...tokens, refreshExpiresAt: null }),
    true,
  );
  assert.equal((await rowOf(key)).status, "active");
});

test("a token endpoint that breaks costs nothing but time", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const key = await connectedAccount(deps);
  const answers = [200, 302, 401, 429, 500, 503];
  clock.forward(57 * minute);
  for (const status of answers) {
    platform.token = (_asked, response) => json(response, status, { error: "invalid_client" });
    // Not over yet: the token at hand is still good.
    const opened = await openAccount(deps, key);
    assert.equal(await tokenSeen(platform, opened), `Bearer access-0-${key.userId}`);
  }
  clock.forward(10 * minute);
  for (const status of answers) {
    platform.token = (_asked, response) => json(response, status, { error: "invalid_client" });
    await failsAs("retry", openAccount(deps, key));
  }
  platform.token = (_asked, response) => response.destroy();
  await failsAs("retry", openAccount(deps, key));
  assert.equal((await rowOf(key)).status, "active");
  rotateRefreshTokens(platform);
  const opened = await openAccount(deps, key);
  assert.equal(await tokenSeen(platform, opened), `Bearer access-1-${key.userId}`);
});

test("a killed worker's right to refresh ends by itself", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  rotateRefreshTokens(platform);
  const key = await connectedAccount(deps);
  clock.forward(61 * minute);
  const row = await rowOf(key);
  assert.ok(await claimRefresh(db, row));
  assert.equal(await claimRefresh(db, row), null);
  const opening = openAccount(deps, key);
  const expire =
    "update connected_accounts set refreshing_until = now() - interval '1 s' where user_id = $1";
  await db.query(expire, [key.userId]);
  assert.equal(await tokenSeen(platform, await opening), `Bearer access-1-${key.userId}`);
});

test("a worker killed between the reply and storing it leaves an account that is marked, not a loop", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const refused = rotateRefreshTokens(platform);
  const key = await connectedAccount(deps);
  clock.forward(61 * minute);
  // The platform has rotated; nobody has stored what it said.
  const form = new URLSearchParams({ refresh_token: `refresh-0-${key.userId}` });
  await fetch(`${platform.url}/token`, { method: "POST", body: form });
  await failsAs("reconnect", openAccount(deps, key));
  await failsAs("reconnect", openAccount(deps, key));
  assert.equal(refused.count, 1);
  assert.equal((await rowOf(key)).status, "needs_reconnect");
});

test("new tokens outlive a database that can't write for a moment", async () => {
  const impatient = createPool(
    { url, name: "test", size: 2, role: serviceRole, lockTimeoutMs: 50 },
    quiet,
  );
  after(() => impatient.end());
  const { deps, clock, platform } = await tokenDeps(impatient);
  rotateRefreshTokens(platform);
  const { token: answer } = platform;
  const key = await connectedAccount(deps);
  clock.forward(61 * minute);
  const blocked = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const isBlocked = async (): Promise<boolean> => (await owner.query(blocked)).rowCount === 1;
  const asked = Promise.withResolvers<() => unknown>();
  platform.token = (...call) => asked.resolve(() => answer(...call));
  const opening = openAccount(deps, key);
  const reply = await asked.promise;
  await inTransaction(db, async (tx) => {
    await tx.query("select from connected_accounts where user_id = $1 for update", [key.userId]);
    await reply();
    const deadline = performance.now() + 5_000;
    while (!(await isBlocked())) assert.ok(performance.now() < deadline);
    while (await isBlocked()) assert.ok(performance.now() < deadline);
  });
  assert.equal(await tokenSeen(platform, await opening), `Bearer access-1-${key.userId}`);
  assert.equal(platform.tokenForms().length, 1);
});
