import { setTimeout as pause } from "node:timers/promises";
import { PlatformError, bindCall } from "../platforms/index.ts";
import type { Call } from "../platforms/index.ts";
import type { AccountDeps } from "./deps.ts";
import { tokenPlace } from "./queries.ts";
import type { AccountKey } from "./queries.ts";
import { openToken, refresh } from "./refresh.ts";
import { findTokens, markNeedsReconnect } from "./token-queries.ts";
import type { TokenRow, TokenState } from "./token-queries.ts";

const aheadMs = 5 * 60_000;
const callTimeoutMs = 30_000;
const waitMs = 20_000;

export interface OpenedAccount {
  call: Call;
  account: TokenState & { authorUrn: string | null };
  /** To be told when the platform has refused the token: the account is marked, unless it has another by now. */
  refused(): Promise<void>;
}

export interface WantedAccount extends AccountKey {
  /** The version of a token that the platform has refused although it should be good: it is not used again. */
  refusedVersion?: string;
}

function opened(deps: AccountDeps, row: TokenRow): OpenedAccount {
  const { userId, platform, accountId, tokenVersion, authorUrn } = row;
  return {
    call: bindCall(deps.outbound, {
      accessToken: openToken(deps, row.accessToken, tokenPlace(row, "access_token")),
      account: { accountId, authorUrn },
      timeoutMs: callTimeoutMs,
    }),
    account: { userId, platform, accountId, tokenVersion, authorUrn },
    async refused() {
      await markNeedsReconnect(deps.db, row);
    },
  };
}

/** Some tokens live for less than two times five minutes: those are replaced in the second half of their life. */
function isDue(row: TokenRow, leftMs: number): boolean {
  return leftMs <= Math.min(aheadMs, row.expiresIn * 500);
}

function reconnect(): PlatformError {
  return new PlatformError("reconnect", "The account has to be connected again");
}

/**
 * The tokens of an account that are due, made good; or the reason why there are none. `undefined` where the row has to
 * be read again: another worker may have changed it.
 */
async function renew(
  deps: AccountDeps,
  row: TokenRow,
  isUsable: boolean,
): Promise<OpenedAccount | undefined> {
  const { db, clock, log, registry } = deps;
  const { platform, accountId, refreshToken, refreshExpiresAt } = row;
  const adapter = registry.get(platform);
  if (!adapter) throw new Error(`there is no adapter for ${platform}`);
  const canRefresh =
    refreshToken !== null && (refreshExpiresAt === null || refreshExpiresAt > clock.now());
  const result = canRefresh
    ? await refresh(deps, adapter.oauth, { ...row, refreshToken })
    : "refused";
  if (result === "replaced") return undefined;
  if (result === "busy") {
    await pause(50 + Math.random() * 100);
    return undefined;
  }
  if (isUsable) return opened(deps, row);
  if (result === "failed") throw new PlatformError("retry", "The platform gave no new token");
  // Marks nothing, and so reads again, where the tokens were replaced while this worker asked.
  if (!(await markNeedsReconnect(db, row))) return undefined;
  log.warn({ platform, accountId }, "an account has to be connected again");
  throw reconnect();
}

/**
 * An account with a token that is good now. One that ends within five minutes is replaced first, by one worker of all.
 * Throws `PlatformError`: `reconnect` where only the user can help, `retry` where time can.
 */
export async function openAccount(
  deps: AccountDeps,
  wanted: WantedAccount,
): Promise<OpenedAccount> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const row = await findTokens(deps.db, wanted);
    if (!row) throw new PlatformError("reconnect", "The account is not connected any more");
    if (row.status === "needs_reconnect") throw reconnect();
    const leftMs = row.expiresAt.getTime() - deps.clock.now().getTime();
    const isUsable = leftMs > 0 && row.tokenVersion !== wanted.refusedVersion;
    if (isUsable && (!isDue(row, leftMs) || performance.now() > deadline)) return opened(deps, row);
    if (performance.now() > deadline)
      throw new PlatformError("retry", "Another worker is still getting a new token");
    const account = await renew(deps, row, isUsable);
    if (account) return account;
  }
}
