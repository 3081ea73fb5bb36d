import type { Logger } from "pino";
import { z } from "zod";
import { inTransaction } from "../db/index.ts";
import type { Db, Pool } from "../db/index.ts";
import { Abandon, defineTask } from "../jobs/index.ts";
import type { Sealer } from "../sealing.ts";
import { tokenPlace } from "./queries.ts";
import type { AccountKey } from "./queries.ts";

const batchSize = 50;

interface SealedRow extends AccountKey {
  accessToken: string;
  refreshToken: string | null;
}

/** What all that the current key has sealed begins with: format and key id. */
function currentPrefix(sealer: Sealer): string {
  const [version, keyId] = sealer.seal("", "").split(".");
  return `${version}.${keyId}.`;
}

/** How many values still need an older key. That key may be taken away when this is 0. */
export async function countOldSeals(db: Db, sealer: Sealer): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select (select count(*) from connected_accounts
             where not starts_with(access_token, $1) or not starts_with(refresh_token, $1))::int
          + (select count(*) from connection_states
             where not starts_with(code_verifier, $1) or not starts_with(code, $1))::int as count`,
    [currentPrefix(sealer)],
  );
  return rows[0]?.count ?? 0;
}

async function nextRows(db: Db, sealer: Sealer, after: AccountKey | null): Promise<SealedRow[]> {
  const { rows } = await db.query<SealedRow>(
    `select user_id as "userId", platform, account_id as "accountId", access_token as "accessToken",
       refresh_token as "refreshToken"
     from connected_accounts
     where (user_id, platform, account_id) > ($2, $3, $4)
       and (not starts_with(access_token, $1) or not starts_with(refresh_token, $1))
     order by user_id, platform, account_id limit $5`,
    [
      currentPrefix(sealer),
      after?.userId ?? "",
      after?.platform ?? "",
      after?.accountId ?? "",
      batchSize,
    ],
  );
  return rows;
}

/** The row's tokens under the current key; none where they can't be read, which must not hold up the others. */
function resealed(sealer: Sealer, row: SealedRow, log: Logger): SealedRow[] {
  const again = (sealed: string, column: "access_token" | "refresh_token"): string => {
    const place = tokenPlace(row, column);
    return sealer.seal(sealer.open(sealed, place), place);
  };
  try {
    const { accessToken, refreshToken } = row;
    return [
      {
        ...row,
        accessToken: again(accessToken, "access_token"),
        refreshToken: refreshToken && again(refreshToken, "refresh_token"),
      },
    ];
  } catch (error) {
    const { platform, accountId } = row;
    log.error({ err: error, platform, accountId }, "an account's tokens can't be read");
    return [];
  }
}

/** Writes over the very values that were read, and over no others: a token replaced meanwhile stays. */
async function swap(db: Pool, before: SealedRow[], now: SealedRow[]): Promise<void> {
  const old = new Map(before.map((row) => [tokenPlace(row, "access_token"), row]));
  const columns = (rows: (SealedRow | undefined)[]) => [
    rows.map((row) => row?.accessToken),
    rows.map((row) => row?.refreshToken),
  ];
  await inTransaction(db, async (tx) => {
    await tx.query(
      `update connected_accounts a set access_token = n.access_token, refresh_token = n.refresh_token
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
         as n (user_id, platform, account_id, access_token, refresh_token, old_access_token, old_refresh_token)
       where a.user_id = n.user_id and a.platform = n.platform and a.account_id = n.account_id
         and a.access_token = n.old_access_token and a.refresh_token is not distinct from n.old_refresh_token`,
      [
        now.map((row) => row.userId),
        now.map((row) => row.platform),
        now.map((row) => row.accountId),
        ...columns(now),
        ...columns(now.map((row) => old.get(tokenPlace(row, "access_token")))),
      ],
    );
  });
}

/**
 * Seals every token again that an older key has sealed. Each batch is a transaction of its own and every value is
 * readable at any time, so the task may be killed and begun again; with nothing to do it costs one query.
 */
export function rotateTokensTask({ db, sealer }: { db: Pool; sealer: Sealer }) {
  return defineTask({
    name: "connections.rotateTokens",
    payload: z.looseObject({}),
    async run(_payload, { log, signal }) {
      let [seen, sealed] = [0, 0];
      let last: SealedRow | null = null;
      for (;;) {
        signal.throwIfAborted();
        const rows: SealedRow[] = await nextRows(db, sealer, last);
        last = rows.at(-1) ?? null;
        if (!last) break;
        const again = rows.flatMap((row) => resealed(sealer, row, log));
        await swap(db, rows, again);
        seen += rows.length;
        sealed += again.length;
      }
      if (sealed > 0) log.info({ sealed }, "tokens sealed with the current key");
      if (sealed < seen) throw new Abandon(`${seen - sealed} accounts can't be read with any key`);
    },
  });
}
