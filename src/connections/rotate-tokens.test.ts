import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { inTransaction } from "../db/index.ts";
import type { Db } from "../db/index.ts";
import { Abandon } from "../jobs/index.ts";
import { createSealer } from "../sealing.ts";
import type { SealingKey } from "../sealing.ts";
import { countOldSeals, deleteExpiredStates, openAccount, rotateTokensTask } from "./index.ts";
import { saveAccount, tokenPlace } from "./queries.ts";
import type { AccountKey } from "./queries.ts";
import { saveState } from "./state-queries.ts";
import { findTokens, replaceTokens } from "./token-queries.ts";
import { connectedAccount, newKey, testClock, tokenDeps } from "./tokens.testing.ts";

const older = newKey("k1");
const newer = newKey("k2");
const clock = testClock();
const context = {
  jobId: "1",
  attempt: 1,
  isLastAttempt: false,
  log: quiet,
  signal: new AbortController().signal,
};

/** Fills a table with accounts as the older key's time left it; every third has no refresh token. */
async function fill(db: Db, count: number): Promise<AccountKey[]> {
  const sealer = createSealer([older]);
  const keys = Array.from({ length: count }, (_, index): AccountKey => ({
    userId: `user ${index % 7}`,
    platform: "linkedin",
    accountId: `account-${index}`,
  }));
  await Promise.all(
    keys.map(
      async ({ accountId, ...key }, index) =>
        await saveAccount(db, sealer, {
          ...key,
          profile: { accountId, displayName: "", username: null, avatarUrl: null, authorUrn: null },
          tokens: {
            accessToken: `access ${accountId}`,
            refreshToken: index % 3 === 0 ? null : `refresh ${accountId}`,
            scope: "",
            expiresIn: 3_600,
            expiresAt: new Date(clock.now().getTime() + 3_600_000),
            refreshExpiresAt: null,
          },
        }),
    ),
  );
  return keys;
}

async function assertReadable(db: Db, keys: AccountKey[], ring: SealingKey[]): Promise<void> {
  const sealer = createSealer(ring);
  const { rows } = await db.query<{ id: string; access: string; refresh: string | null }>(
    "select account_id as id, access_token as access, refresh_token as refresh from connected_accounts",
  );
  const stored = new Map(rows.map(({ id, ...tokens }) => [id, tokens]));
  for (const key of keys) {
    const { access = "", refresh = null } = stored.get(key.accountId) ?? {};
    const opened = sealer.open(access, tokenPlace(key, "access_token"));
    assert.equal(opened, `access ${key.accountId}`);
    assert.equal(refresh === null, Number(key.accountId.split("-")[1]) % 3 === 0);
    if (refresh === null) continue;
    const reopened = sealer.open(refresh, tokenPlace(key, "refresh_token"));
    assert.equal(reopened, `refresh ${key.accountId}`);
  }
}

test("a rotation killed again and again leaves every token readable, and ends", async () => {
  const { db, url } = await testDatabase();
  const keys = await fill(db, 600);
  const ring = [newer, older];
  const sealer = createSealer(ring);
  assert.equal(await countOldSeals(db, sealer), 600);
  const argument = JSON.stringify(
    ring.map(({ id, key }) => ({ id, key: key.toString("base64url") })),
  );
  for (let left = 600, kills = 0; kills < 3; kills++) {
    const child = fork(new URL("rotate-tokens.fixture.ts", import.meta.url), [url, argument]);
    const gone = once(child, "exit");
    const before = left;
    while (left === before && child.exitCode === null) left = await countOldSeals(db, sealer);
    child.kill("SIGKILL");
    await gone;
    left = await countOldSeals(db, sealer);
    assert.ok(left < before, "it goes on where it was");
    await assertReadable(db, keys, ring);
    if (left === 0) break;
  }
  await rotateTokensTask({ db, sealer }).run({}, context);
  assert.equal(await countOldSeals(db, sealer), 0);
  await assertReadable(db, keys, [newer]);
});

test("tokens are opened all the while they are sealed again", async () => {
  const { db } = await testDatabase();
  const sealer = createSealer([newer, older]);
  const { deps } = await tokenDeps(db, sealer);
  const keys = await fill(db, 300);
  const versions = await db.query(
    "select account_id, token_version, updated_at from connected_accounts order by 1",
  );
  const rotating = rotateTokensTask({ db, sealer }).run({}, context);
  let isOver = false;
  void rotating.then(() => (isOver = true));
  let opened = 0;
  while (!isOver) {
    const some = Array.from({ length: 10 }, () => keys[opened++ % keys.length] as AccountKey);
    await Promise.all(some.map(async (key) => await openAccount({ ...deps, clock }, key)));
  }
  await rotating;
  assert.ok(opened > 0);
  // The tokens are the same ones: nothing that waits for their version is disturbed.
  assert.deepEqual(
    (
      await db.query(
        "select account_id, token_version, updated_at from connected_accounts order by 1",
      )
    ).rows,
    versions.rows,
  );
});

test("a token replaced while the old one is being sealed again stays the new one", async () => {
  const { db, owner } = await testDatabase();
  const [key = assert.fail()] = await fill(db, 1);
  const sealer = createSealer([newer, older]);
  const row = (await findTokens(db, key)) ?? assert.fail();
  const tokens = {
    accessToken: "replaced",
    refreshToken: null,
    scope: "",
    expiresIn: 3_600,
    expiresAt: new Date(),
    refreshExpiresAt: null,
  };
  const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  let rotating: Promise<void> | undefined;
  await inTransaction(db, async (tx) => {
    await replaceTokens(tx, sealer, row, tokens);
    rotating = rotateTokensTask({ db, sealer }).run({}, context);
    const deadline = performance.now() + 4_000;
    while ((await owner.query(blocked)).rowCount === 0) assert.ok(performance.now() < deadline);
  });
  await rotating;
  const { accessToken = "" } = (await findTokens(db, key)) ?? {};
  assert.equal(sealer.open(accessToken, tokenPlace(key, "access_token")), "replaced");
});

test("two rotations at once do no harm", async () => {
  const { db } = await testDatabase();
  const keys = await fill(db, 200);
  const sealer = createSealer([newer, older]);
  const task = rotateTokensTask({ db, sealer });
  await Promise.all([task.run({}, context), task.run({}, context), task.run({}, context)]);
  assert.equal(await countOldSeals(db, sealer), 0);
  await assertReadable(db, keys, [newer]);
});

test("a token that can't be read holds up no other, and the job says so", async () => {
  const { db } = await testDatabase();
  const keys = await fill(db, 120);
  await db.query(
    "update connected_accounts set access_token = 'v1.k0.a.b.c' where account_id = 'account-7'",
  );
  const sealer = createSealer([newer, older]);
  await assert.rejects(rotateTokensTask({ db, sealer }).run({}, context), Abandon);
  assert.equal(await countOldSeals(db, sealer), 1);
  await assertReadable(
    db,
    keys.filter(({ accountId }) => accountId !== "account-7"),
    [newer],
  );
});

test("a rotation that is told to stop stops, and another goes on", async () => {
  const { db } = await testDatabase();
  await fill(db, 10);
  const sealer = createSealer([newer, older]);
  const task = rotateTokensTask({ db, sealer });
  await assert.rejects(task.run({}, { ...context, signal: AbortSignal.abort() }));
  assert.equal(await countOldSeals(db, sealer), 10);
  await task.run({}, context);
  assert.equal(await countOldSeals(db, sealer), 0);
});

test("connections on their way keep the older key for the ten minutes they last", async () => {
  const { db } = await testDatabase();
  const sealer = createSealer([newer, older]);
  await saveState(db, createSealer([older]), "state", {
    uid: "u",
    userLabel: "u",
    provider: "twitter",
    returnTo: null,
    browserHash: "0".repeat(64),
    codeVerifier: "verifier",
    code: null,
  });
  assert.equal(await countOldSeals(db, sealer), 1);
  assert.equal(await deleteExpiredStates(db), 0);
  await db.query("update connection_states set created_at = now() - interval '11 minutes'");
  assert.equal(await deleteExpiredStates(db), 1);
  assert.equal(await countOldSeals(db, sealer), 0);
});

test("a new account is sealed with the current key", async () => {
  const { db } = await testDatabase();
  const sealer = createSealer([newer, older]);
  await connectedAccount({ db, sealer, clock });
  assert.equal(await countOldSeals(db, sealer), 0);
});
