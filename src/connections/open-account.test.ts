import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../test/helpers/database.ts";
import { PlatformError } from "../platforms/index.ts";
import { json } from "./connections.testing.ts";
import { markNeedsReconnect, openAccount } from "./index.ts";
import { deleteAccount } from "./queries.ts";
import type { AccountKey } from "./queries.ts";
import { findTokens } from "./token-queries.ts";
import type { TokenRow } from "./token-queries.ts";
import { connectedAccount, rotateRefreshTokens, tokenDeps, tokenSeen } from "./tokens.testing.ts";

const { db } = await testDatabase();
const minute = 60_000;

async function rowOf(key: AccountKey): Promise<TokenRow> {
  return (await findTokens(db, key)) ?? assert.fail("the account is gone");
}

async function failsAs(kind: PlatformError["kind"], opening: Promise<unknown>): Promise<void> {
  await assert.rejects(opening, (error) => error instanceof PlatformError && error.kind === kind);
}

test("a token that is good is used as it is", async () => {
  const { deps, platform } = await tokenDeps(db);
  const key = await connectedAccount(deps);
  const opened = await openAccount(deps, key);
  assert.equal(await tokenSeen(platform, opened), `Bearer access-0-${key.userId}`);
  assert.deepEqual(opened.call.account, { accountId: "1", authorUrn: "urn:li:person:1" });
  assert.equal(opened.account.tokenVersion, (await rowOf(key)).tokenVersion);
  assert.equal(platform.tokenForms().length, 0);
});

test("a token is replaced five minutes ahead of its end, and both new ones are kept", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const refused = rotateRefreshTokens(platform);
  const key = await connectedAccount(deps);
  clock.forward(54 * minute);
  await openAccount(deps, key);
  assert.equal(platform.tokenForms().length, 0);
  clock.forward(minute);
  const opened = await openAccount(deps, key);
  assert.deepEqual(platform.tokenForms(), [
    {
      grant_type: "refresh_token",
      refresh_token: `refresh-0-${key.userId}`,
      client_id: "client id",
      client_secret: "s&cret:1",
    },
  ]);
  assert.equal(await tokenSeen(platform, opened), `Bearer access-1-${key.userId}`);
  clock.forward(60 * minute);
  const again = await openAccount(deps, key);
  assert.equal(await tokenSeen(platform, again), `Bearer access-2-${key.userId}`);
  assert.equal(refused.count, 0);
  const { expiresAt, scope } = await rowOf(key);
  assert.equal(expiresAt.getTime(), clock.now().getTime() + 60 * minute);
  assert.equal(scope, "openid");
});

test("without a refresh token the old one is used to its end, then the user is needed", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const key = await connectedAccount(deps, { refreshToken: null });
  clock.forward(59 * minute);
  await openAccount(deps, key);
  assert.equal((await rowOf(key)).status, "active");
  clock.forward(2 * minute);
  await failsAs("reconnect", openAccount(deps, key));
  assert.equal((await rowOf(key)).status, "needs_reconnect");
  await failsAs("reconnect", openAccount(deps, key));
  assert.equal(platform.journal.length, 0);
});

test("a refresh token past its own end is not tried", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const refreshExpiresAt = new Date(clock.now().getTime() + 30 * minute);
  const key = await connectedAccount(deps, { refreshExpiresAt });
  clock.forward(61 * minute);
  await failsAs("reconnect", openAccount(deps, key));
  assert.equal((await rowOf(key)).status, "needs_reconnect");
  assert.equal(platform.journal.length, 0);
});

test("a token that the platform refused early is replaced once, by whoever comes first", async () => {
  const { deps, platform } = await tokenDeps(db);
  rotateRefreshTokens(platform);
  const key = await connectedAccount(deps);
  const { account } = await openAccount(deps, key);
  const refusedVersion = account.tokenVersion;
  const opened = await Promise.all(
    Array.from({ length: 5 }, async () => await openAccount(deps, { ...key, refusedVersion })),
  );
  assert.equal(platform.tokenForms().length, 1);
  assert.equal(new Set(opened.map((each) => each.account.tokenVersion)).size, 1);
  const withoutRefresh = await connectedAccount(deps, { refreshToken: null });
  const { tokenVersion } = (await openAccount(deps, withoutRefresh)).account;
  await failsAs(
    "reconnect",
    openAccount(deps, { ...withoutRefresh, refusedVersion: tokenVersion }),
  );
});

test("an account is not marked for a token that was replaced meanwhile", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  rotateRefreshTokens(platform);
  const key = await connectedAccount(deps);
  const old = await openAccount(deps, key);
  clock.forward(61 * minute);
  const current = await openAccount(deps, key);
  await old.refused();
  assert.equal((await rowOf(key)).status, "active");
  await current.refused();
  assert.equal((await rowOf(key)).status, "needs_reconnect");
});

test("a token that lives for minutes only is not refreshed on every use", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const expiresAt = new Date(clock.now().getTime() + 2 * minute);
  const key = await connectedAccount(deps, { expiresIn: 120, expiresAt });
  platform.token = (_asked, response) =>
    json(response, 200, { access_token: "short", token_type: "bearer", expires_in: 120 });
  await openAccount(deps, key);
  assert.equal(platform.tokenForms().length, 0);
  clock.forward(minute);
  await openAccount(deps, key);
  await openAccount(deps, key);
  assert.equal(platform.tokenForms().length, 1);
});

test("an account disconnected during its refresh stays gone, and made again meets no ghost", async () => {
  const { deps, clock, platform } = await tokenDeps(db);
  const key = await connectedAccount(deps);
  const old = await rowOf(key);
  clock.forward(61 * minute);
  const asked = Promise.withResolvers<() => void>();
  platform.token = (_asked, response) =>
    asked.resolve(() =>
      json(response, 200, { access_token: "ghost", token_type: "bearer", expires_in: 3_600 }),
    );
  const opening = failsAs("reconnect", openAccount(deps, key));
  const answer = await asked.promise;
  assert.equal(await deleteAccount(db, key), true);
  answer();
  await opening;
  assert.equal(await findTokens(db, key), undefined);
  await connectedAccount(deps, {}, key.userId);
  assert.equal(await markNeedsReconnect(db, old), false);
  assert.equal((await rowOf(key)).status, "active");
});

test("what was opened before a disconnection finishes; nothing is begun after it", async () => {
  const { deps, platform } = await tokenDeps(db);
  const key = await connectedAccount(deps);
  const opened = await openAccount(deps, key);
  const arrived = Promise.withResolvers<() => void>();
  platform.me = (_asked, response) => arrived.resolve(() => response.end("{}"));
  const sending = opened.call.send({ method: "GET", url: `${platform.url}/me` });
  const answer = await arrived.promise;
  await deleteAccount(db, key);
  answer();
  assert.equal((await sending).status, 200);
  await opened.refused();
  await failsAs("reconnect", openAccount(deps, key));
});
