import type { Db } from "../db/index.ts";
import type { Sealer } from "../sealing.ts";
import { sealTokens } from "./queries.ts";
import type { AccountKey, AccountStatus } from "./queries.ts";
import type { Tokens } from "./token-reply.ts";

/** An account with its tokens as they are stored: sealed. */
export interface TokenRow extends AccountKey {
  accessToken: string;
  refreshToken: string | null;
  scope: string;
  expiresIn: number;
  expiresAt: Date;
  refreshExpiresAt: Date | null;
  authorUrn: string | null;
  status: AccountStatus;
  tokenVersion: string;
}

/** An account at one state of its tokens. */
export type TokenState = AccountKey & Pick<TokenRow, "tokenVersion">;

const stateValues = ({ userId, platform, accountId, tokenVersion }: TokenState): string[] => [
  userId,
  platform,
  accountId,
  tokenVersion,
];

export async function findTokens(db: Db, key: AccountKey): Promise<TokenRow | undefined> {
  const { rows } = await db.query<TokenRow>({
    name: "find_tokens",
    text: `select user_id as "userId", platform, account_id as "accountId", access_token as "accessToken",
             refresh_token as "refreshToken", scope, expires_in as "expiresIn", expires_at as "expiresAt",
             refresh_expires_at as "refreshExpiresAt", author_urn as "authorUrn", status,
             token_version as "tokenVersion"
           from connected_accounts where user_id = $1 and platform = $2 and account_id = $3`,
    values: [key.userId, key.platform, key.accountId],
  });
  return rows[0];
}

/**
 * The right to get new tokens, for 30 seconds of database time: longer than asking and storing take together. Null
 * where another worker has it, or has used it already. A killed worker's right ends by itself.
 */
export async function claimRefresh(db: Db, state: TokenState): Promise<string | null> {
  const { rows } = await db.query<{ claim: string }>({
    name: "claim_refresh",
    text: `update connected_accounts set refreshing_until = clock_timestamp() + interval '30 seconds'
           where user_id = $1 and platform = $2 and account_id = $3 and token_version = $4
             and (refreshing_until is null or refreshing_until < clock_timestamp())
           returning refreshing_until::text as claim`,
    values: stateValues(state),
  });
  return rows[0]?.claim ?? null;
}

export async function giveUpRefresh(db: Db, state: TokenState, claim: string): Promise<void> {
  await db.query({
    name: "give_up_refresh",
    text: `update connected_accounts set refreshing_until = null
           where user_id = $1 and platform = $2 and account_id = $3 and token_version = $4
             and refreshing_until = $5::timestamptz`,
    values: [...stateValues(state), claim],
  });
}

/** One statement writes the new over the old, so at no time is there none. False where the tokens have changed meanwhile. */
export async function replaceTokens(
  db: Db,
  sealer: Sealer,
  state: TokenState,
  tokens: Tokens,
): Promise<boolean> {
  const sealed = sealTokens(sealer, state, tokens);
  const { rowCount } = await db.query({
    name: "replace_tokens",
    text: `update connected_accounts set
             access_token = $5, refresh_token = $6, scope = $7, expires_in = $8, expires_at = $9,
             refresh_expires_at = $10, status = 'active', refreshing_until = null, updated_at = now(),
             token_version = nextval('connected_account_versions')
           where user_id = $1 and platform = $2 and account_id = $3 and token_version = $4`,
    values: [
      ...stateValues(state),
      sealed.accessToken,
      sealed.refreshToken,
      tokens.scope,
      tokens.expiresIn,
      tokens.expiresAt,
      tokens.refreshExpiresAt,
    ],
  });
  return rowCount === 1;
}

/** True where this call made the change: tokens that were replaced meanwhile are not blamed for the old ones. */
export async function markNeedsReconnect(db: Db, state: TokenState): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "mark_needs_reconnect",
    text: `update connected_accounts set status = 'needs_reconnect', updated_at = now()
           where user_id = $1 and platform = $2 and account_id = $3 and token_version = $4 and status = 'active'`,
    values: stateValues(state),
  });
  return rowCount === 1;
}
