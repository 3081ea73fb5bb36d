import type { Db } from "../db/index.ts";
import type { CreditReference } from "./credits.ts";

export interface CreditEntry {
  id: string;
  kind: "grant" | "debit" | "refund" | "expiry" | "adjustment";
  amount: number;
  balanceAfter: number;
  reference: CreditReference;
  createdAt: Date;
}

export interface Credits {
  balance: number;
  /** When what is left of the allowance expires. Null where there is none. */
  periodEnd: Date | null;
  /** Newest first. */
  entries: CreditEntry[];
  /** The cursor of the next page, or null on the last one. */
  next: string | null;
}

type CreditsRow = { balance: number; periodEnd: Date | null } & (
  | CreditEntry
  | { [Field in keyof CreditEntry]: null }
);

/** One statement, so balance and entries are of one moment. */
export async function readCredits(
  db: Db,
  userId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Credits> {
  const { rows } = await db.query<CreditsRow>({
    name: "read_credits",
    text: `select b.balance, b.period_end as "periodEnd", e.id, e.kind, e.amount, e.balance_after as "balanceAfter",
             e.reference, e.created_at as "createdAt"
           from credit_balances b left join lateral (
             select * from credit_entries where user_id = b.user_id and id < coalesce($2, 9223372036854775807)
             order by id desc limit $3) e on true
           where b.user_id = $1 order by e.id desc`,
    values: [userId, cursor ?? null, limit + 1],
  });
  const found = rows.flatMap(({ balance: _balance, periodEnd: _periodEnd, ...entry }) =>
    entry.id === null ? [] : entry,
  );
  const entries = found.slice(0, limit);
  return {
    balance: rows[0]?.balance ?? 0,
    periodEnd: rows[0]?.periodEnd ?? null,
    entries,
    next: found.length > limit ? (entries.at(-1)?.id ?? null) : null,
  };
}
