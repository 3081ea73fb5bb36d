// What the tests of tokens share: accounts made without a browser, and a platform whose refresh tokens are good once.
import { randomBytes, randomUUID } from "node:crypto";
import { quiet } from "../../test/helpers/database.ts";
import type { Pool } from "../db/index.ts";
import { createOutbound } from "../outbound/index.ts";
import { createSealer } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";
import { json, registryOf, startPlatform } from "./connections.testing.ts";
import type { Platform } from "./connections.testing.ts";
import type { AccountDeps } from "./deps.ts";
import { saveAccount } from "./queries.ts";
import type { AccountKey } from "./queries.ts";
import type { Tokens } from "./token-reply.ts";

export const newKey = (id: string) => ({ id, key: randomBytes(32) });

export interface TestClock {
  now(): Date;
  forward(milliseconds: number): void;
}

/** Time that moves only when told to. */
export function testClock(): TestClock {
  let now = Date.now();
  return { now: () => new Date(now), forward: (milliseconds) => void (now += milliseconds) };
}

export async function tokenDeps(db: Pool, sealer: Sealer = createSealer([newKey("k1")])) {
  const platform = await startPlatform();
  const clock = testClock();
  const deps: AccountDeps = {
    db,
    sealer,
    clock,
    log: quiet,
    registry: registryOf(platform),
    outbound: createOutbound({ log: quiet }),
  };
  return { deps, clock, platform };
}

/** A connected account, of a new user unless told; its token lives an hour unless told otherwise. */
export async function connectedAccount(
  { db, sealer, clock }: Pick<AccountDeps, "db" | "sealer" | "clock">,
  tokens: Partial<Tokens> = {},
  userId = `user_${randomUUID()}`,
): Promise<AccountKey> {
  const key: AccountKey = { userId, platform: "linkedin", accountId: "1" };
  await saveAccount(db, sealer, {
    ...key,
    profile: {
      accountId: key.accountId,
      displayName: "Ada",
      username: null,
      avatarUrl: null,
      authorUrn: "urn:li:person:1",
    },
    tokens: {
      accessToken: `access-0-${key.userId}`,
      refreshToken: `refresh-0-${key.userId}`,
      scope: "openid",
      expiresIn: 3_600,
      expiresAt: new Date(clock.now().getTime() + 3_600_000),
      refreshExpiresAt: null,
      ...tokens,
    },
  });
  return key;
}

/** Each refresh token is good once; a second use ends all tokens of its account, as platforms with reuse detection do. */
export function rotateRefreshTokens(platform: Platform) {
  const generations = new Map<string, number>();
  const refused = { count: 0 };
  platform.token = ({ form }, response) => {
    const [, generation, account = ""] =
      /^refresh-(\d+)-(.*)$/.exec(form.get("refresh_token") ?? "") ?? [];
    if (Number(generation) !== (generations.get(account) ?? 0)) {
      refused.count += 1;
      generations.set(account, Number.NaN);
      return json(response, 400, { error: "invalid_grant" });
    }
    const next = Number(generation) + 1;
    generations.set(account, next);
    return json(response, 200, {
      access_token: `access-${next}-${account}`,
      refresh_token: `refresh-${next}-${account}`,
      token_type: "bearer",
      expires_in: 3_600,
    });
  };
  return refused;
}

/** The token that the platform sees when this account calls. */
export async function tokenSeen(
  platform: Platform,
  { call }: { call: { send(request: { method: "GET"; url: string }): Promise<unknown> } },
): Promise<string> {
  await call.send({ method: "GET", url: `${platform.url}/me` });
  return platform.journal.at(-1)?.headers.authorization ?? "";
}
