import { inTransaction } from "../db/index.ts";
import type { Db, Pool } from "../db/index.ts";

export interface CreditDifference {
  userId: string;
  /** The entry whose running balance is wrong, or null where it is the balance itself. */
  entryId: string | null;
  expected: number;
  found: number;
}

export interface CreditCheck {
  users: number;
  entries: number;
  differences: number;
}

const usersAtOnce = 200;

/** The next users in line: up to whom, how many, and how many entries they have. */
async function nextUsers(db: Db, after: string) {
  const { rows } = await db.query<{ last: string | null; users: number; entries: number }>({
    name: "credit_check_users",
    text: `with next as materialized (
             select user_id from credit_balances where user_id > $1 order by user_id limit $2)
           select (select max(user_id) from next) as last, (select count(*)::int from next) as users,
             (select count(*)::int from credit_entries where user_id in (select user_id from next)) as entries`,
    values: [after, usersAtOnce],
  });
  return rows[0];
}

async function differencesOf(db: Db, after: string, last: string): Promise<CreditDifference[]> {
  const { rows } = await db.query<CreditDifference>({
    name: "credit_check_differences",
    text: `with entries as (
             select user_id, id, balance_after, amount, sum(amount) over (partition by user_id order by id) as running
             from credit_entries where user_id > $1 and user_id <= $2)
           select user_id as "userId", id as "entryId", running::float8 as expected, balance_after as found
           from entries where running <> balance_after
           union all
           select b.user_id, null, coalesce(s.total, 0)::float8, b.balance
           from credit_balances b left join (select user_id, sum(amount) as total from entries group by user_id) s using (user_id)
           where b.user_id > $1 and b.user_id <= $2 and b.balance <> coalesce(s.total, 0)`,
    values: [after, last],
  });
  return rows;
}

/**
 * Adds every ledger up again, and tells of each balance and each running balance that is not its sum. All of it at one
 * moment of the database, some users at a time.
 */
export async function checkCredits(
  db: Pool,
  tell: (difference: CreditDifference) => void,
): Promise<CreditCheck> {
  return await inTransaction(db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const total: CreditCheck = { users: 0, entries: 0, differences: 0 };
    let after = "";
    for (;;) {
      const next = await nextUsers(tx, after);
      if (!next?.last) return total;
      for (const difference of await differencesOf(tx, after, next.last)) {
        total.differences += 1;
        tell(difference);
      }
      total.users += next.users;
      total.entries += next.entries;
      after = next.last;
    }
  });
}
