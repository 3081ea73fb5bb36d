import { setTimeout as pause } from "node:timers/promises";
import { isUnavailable } from "../db/index.ts";
import { PlatformError } from "../platforms/index.ts";
import type { OAuthSettings } from "../platforms/index.ts";
import type { AccountDeps } from "./deps.ts";
import { refreshTokens } from "./oauth.ts";
import { tokenPlace } from "./queries.ts";
import { claimRefresh, giveUpRefresh, replaceTokens } from "./token-queries.ts";
import type { TokenRow } from "./token-queries.ts";
import { TokenError } from "./token-reply.ts";
import type { Tokens } from "./token-reply.ts";

export type Refreshed =
  /** The stored tokens are other ones now. */
  | "replaced"
  /** Another worker is at it. */
  | "busy"
  /** The platform does not take the refresh token. */
  | "refused"
  /** No answer that could be used. */
  | "failed";

const storeAttempts = 6;

/** Nothing was sent, and a value that can't be opened says nothing about the account: it is no reason to reconnect. */
export function openToken({ sealer }: AccountDeps, sealed: string, place: string): string {
  try {
    return sealer.open(sealed, place);
  } catch (cause) {
    throw new PlatformError("retry", "The account's token can't be read", { cause });
  }
}

/** The platform may have ended the old tokens already: a database that is away for a moment must not cost the account. */
async function store(deps: AccountDeps, row: TokenRow, tokens: Tokens): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await replaceTokens(deps.db, deps.sealer, row, tokens);
      return;
    } catch (error) {
      if (attempt === storeAttempts || !isUnavailable(error)) throw error;
      await pause(100 * 2 ** attempt);
    }
  }
}

/**
 * Gets new tokens, unless another worker does. No transaction and no connection is held meanwhile: the right to do it
 * is a mark on the row that ends by itself.
 */
export async function refresh(
  deps: AccountDeps,
  settings: OAuthSettings,
  row: TokenRow & { refreshToken: string },
): Promise<Refreshed> {
  const { db, clock, log, outbound } = deps;
  const claim = await claimRefresh(db, row);
  if (claim === null) return "busy";
  try {
    const tokens = await refreshTokens(outbound.fetchJson, settings, {
      refreshToken: openToken(deps, row.refreshToken, tokenPlace(row, "refresh_token")),
      refreshExpiresAt: row.refreshExpiresAt,
      scope: row.scope,
      askedAt: clock.now(),
    });
    await store(deps, row, tokens);
    return "replaced";
  } catch (error) {
    const isRefused = error instanceof TokenError && error.isRefused;
    // After a refusal the right is kept until the account is marked: nobody else is to ask the same in between.
    if (!isRefused) await giveUpRefresh(db, row, claim);
    if (!(error instanceof TokenError)) throw error;
    const { platform, accountId } = row;
    log.warn({ err: error, platform, accountId, isRefused }, "no new tokens");
    return isRefused ? "refused" : "failed";
  }
}
