import type { Db } from "../db/index.ts";
import type { Sealer } from "../sealing.ts";
import type { PlatformName, Profile } from "../platforms/index.ts";
import type { Tokens } from "./token-reply.ts";

/** Which account is meant: one platform account, as one user has connected it. */
export interface AccountKey {
  userId: string;
  platform: PlatformName;
  accountId: string;
}

export type AccountStatus = "active" | "needs_reconnect";

export interface Account extends AccountKey {
  scope: string;
  expiresIn: number;
  expiresAt: Date;
  displayName: string;
  username: string | null;
  avatarUrl: string | null;
  authorUrn: string | null;
  enabledForRepost: boolean;
  status: AccountStatus;
  updatedAt: Date;
}

// Every column but those of tokens.
const columns = `user_id as "userId", platform, account_id as "accountId", scope, expires_in as "expiresIn",
  expires_at as "expiresAt", display_name as "displayName", username, avatar_url as "avatarUrl",
  author_urn as "authorUrn", enabled_for_repost as "enabledForRepost", status, updated_at as "updatedAt"`;

/** Where a token may be opened. As JSON, because ids may contain any separator. */
export function tokenPlace(
  { userId, platform, accountId }: AccountKey,
  column: "access_token" | "refresh_token",
): string {
  return JSON.stringify(["connected_accounts", userId, platform, accountId, column]);
}

export function sealTokens(sealer: Sealer, key: AccountKey, tokens: Tokens) {
  const { accessToken, refreshToken } = tokens;
  return {
    accessToken: sealer.seal(accessToken, tokenPlace(key, "access_token")),
    refreshToken: refreshToken && sealer.seal(refreshToken, tokenPlace(key, "refresh_token")),
  };
}

export interface Connection {
  userId: string;
  platform: PlatformName;
  profile: Profile;
  tokens: Tokens;
}

/** Connecting again replaces tokens and profile, and keeps what the user has set. */
export async function saveAccount(
  db: Db,
  sealer: Sealer,
  { userId, platform, profile, tokens }: Connection,
): Promise<void> {
  const { accountId, displayName, username, avatarUrl, authorUrn } = profile;
  const sealed = sealTokens(sealer, { userId, platform, accountId }, tokens);
  await db.query({
    name: "save_account",
    text: `insert into connected_accounts as a
             (user_id, platform, account_id, access_token, refresh_token, scope, expires_in, expires_at,
              refresh_expires_at, display_name, username, avatar_url, author_urn)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
           on conflict (user_id, platform, account_id) do update set
             access_token = excluded.access_token, refresh_token = excluded.refresh_token, scope = excluded.scope,
             expires_in = excluded.expires_in, expires_at = excluded.expires_at,
             refresh_expires_at = excluded.refresh_expires_at, display_name = excluded.display_name,
             username = excluded.username, avatar_url = excluded.avatar_url,
             author_urn = coalesce(excluded.author_urn, a.author_urn), status = 'active',
             token_version = excluded.token_version, refreshing_until = null, updated_at = now()`,
    values: [
      userId,
      platform,
      accountId,
      sealed.accessToken,
      sealed.refreshToken,
      tokens.scope,
      tokens.expiresIn,
      tokens.expiresAt,
      tokens.refreshExpiresAt,
      displayName,
      username,
      avatarUrl,
      authorUrn,
    ],
  });
}

export async function listAccounts(db: Db, userId: string): Promise<Account[]> {
  const { rows } = await db.query<Account>({
    name: "list_accounts",
    text: `select ${columns} from connected_accounts where user_id = $1 order by platform, account_id`,
    values: [userId],
  });
  return rows;
}

export type KnownAccount = Pick<Account, "platform" | "accountId" | "status">;

/** What each of many users has connected, in the order asked, by one query. */
export async function accountsOf(db: Db, userIds: readonly string[]): Promise<KnownAccount[][]> {
  const { rows } = await db.query<KnownAccount & { userId: string }>({
    name: "accounts_of",
    text: `select user_id as "userId", platform, account_id as "accountId", status
           from connected_accounts where user_id = any($1::text[]) order by platform, account_id`,
    values: [userIds],
  });
  const byUser = Map.groupBy(rows, ({ userId }) => userId);
  return userIds.map((userId) =>
    (byUser.get(userId) ?? []).map(({ userId: _userId, ...account }) => account),
  );
}

export async function setRepost(
  db: Db,
  { userId, platform, accountId }: AccountKey,
  isEnabled: boolean,
): Promise<Account | undefined> {
  const { rows } = await db.query<Account>({
    name: "set_repost",
    text: `update connected_accounts set enabled_for_repost = $4, updated_at = now()
           where user_id = $1 and platform = $2 and account_id = $3 returning ${columns}`,
    values: [userId, platform, accountId, isEnabled],
  });
  return rows[0];
}

/** A call that is under way is not called back; nothing new is begun with the account. */
export async function deleteAccount(
  db: Db,
  { userId, platform, accountId }: AccountKey,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "delete_account",
    text: "delete from connected_accounts where user_id = $1 and platform = $2 and account_id = $3",
    values: [userId, platform, accountId],
  });
  return rowCount === 1;
}

export async function saveAuthorUrn(
  db: Db,
  { userId, platform, accountId }: AccountKey,
  urn: string,
): Promise<void> {
  await db.query({
    name: "save_author_urn",
    text: `update connected_accounts set author_urn = $4, updated_at = now()
           where user_id = $1 and platform = $2 and account_id = $3`,
    values: [userId, platform, accountId, urn],
  });
}
