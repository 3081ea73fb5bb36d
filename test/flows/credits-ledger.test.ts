import assert from "node:assert/strict";
import { test } from "node:test";
import { adjust, debit } from "../../src/billing/credits.ts";
import type { Pool } from "../../src/db/index.ts";
import { testDatabase } from "../helpers/database.ts";

const { db, owner } = await testDatabase();
const rounds = 25;
const refused = "42501"; // insufficient_privilege

// Every way we know to change or remove a row of the ledger; `$id` is one of them.
const changes = [
  "update credit_entries set amount = amount + 1 where id = $id",
  "update credit_entries set balance_after = 1000000",
  "update only credit_entries set created_at = now() where false",
  "update credit_entries e set reference = '{}' from credit_balances b where b.user_id = e.user_id and e.id = $id",
  "update credit_entries set (kind, amount) = (select 'grant', 1000) where id = $id",
  "update credit_entries set user_id = 'thief' where id = $id returning *",
  "delete from credit_entries where id = $id",
  "delete from credit_entries",
  "delete from credit_entries using credit_balances b where b.user_id = credit_entries.user_id and id = $id",
  "with gone as (delete from credit_entries where id = $id returning *) select * from gone",
  "with changed as (update credit_entries set amount = 5 where id = $id returning *) select sum(amount) from changed",
  "truncate credit_entries, credit_holds",
  "truncate credit_entries restart identity cascade",
  "truncate credit_balances cascade",
  `insert into credit_entries (user_id, kind, amount, balance_after, idempotency_key)
   select user_id, kind, amount, balance_after, idempotency_key from credit_entries where id = $id
   on conflict (idempotency_key) do update set amount = 1000`,
  `merge into credit_entries e using (select $id as id) s on e.id = s.id when matched then update set amount = 1000`,
  `merge into credit_entries e using (select $id as id) s on e.id = s.id when matched then delete`,
  "copy (delete from credit_entries where id = $id returning *) to stdout",
  "do $$ begin execute 'delete from credit_entries where id = $id'; end $$",
  `create function pg_temp.wipe() returns void language sql as 'delete from credit_entries where id = $id';
   select pg_temp.wipe()`,
  `create function pg_temp.raise_all() returns void language plpgsql security definer as
     'begin update credit_entries set amount = 1000; end'; select pg_temp.raise_all()`,
  "create temp view mine as select * from credit_entries; update mine set amount = 1000 where id = $id",
  "create temp view mine as select * from credit_entries; delete from mine where id = $id",
  "prepare wipe as delete from credit_entries where id = $id; execute wipe",
  "begin; delete from credit_entries where id = $id; commit",
];

// And every way around the walls that is not open to the service's role.
const escapes = [
  "alter table credit_entries disable trigger append_only",
  "alter table credit_entries disable trigger all",
  "drop trigger append_only on credit_entries",
  "alter table credit_entries owner to current_user",
  "alter table credit_entries alter column amount type bigint",
  "alter table credit_entries drop column balance_after",
  "drop table credit_entries cascade",
  "create or replace function refuse_change() returns trigger language plpgsql as 'begin return null; end'",
  "drop function refuse_change() cascade",
  "create rule sly as on insert to credit_entries do also delete from credit_entries",
  "create trigger sly before insert on credit_entries for each row execute function refuse_change()",
  "grant all on credit_entries to current_user; delete from credit_entries where id = $id",
  "set session_replication_role = replica",
  "set role herald",
  "select * from credit_entries where id = $id for update",
  `begin; declare each cursor for select * from credit_entries for update; fetch each;
   delete from credit_entries where current of each; commit`,
  "copy credit_entries from program 'echo 1'",
];

async function fingerprint(): Promise<unknown> {
  const { rows } = await owner.query(
    "select count(*)::int as entries, md5(string_agg(e::text, '|' order by id)) as text from credit_entries e",
  );
  return rows[0];
}

async function entryIds(): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>("select id from credit_entries order by id");
  return rows.map((row) => row.id);
}

/** Whatever state an attempt leaves its connection in, the next one starts afresh. */
async function attempt(pool: Pool, text: string): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query(text);
    return "done";
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error, `${text}: ${String(error)}`);
    return String(error.code);
  } finally {
    await client.query("rollback");
    await client.query("discard all");
    client.release();
  }
}

/** How many were refused, and what became of the others. */
async function attemptAll(pool: Pool, statements: string[]) {
  const ids = await entryIds();
  const others: [outcome: string, text: string][] = [];
  let refusals = 0;
  for (let round = 0; round < rounds; round++) {
    for (const statement of statements) {
      const text = statement.replaceAll("$id", ids[round % ids.length] ?? "0");
      const outcome = await attempt(pool, text);
      if (outcome === refused) refusals += 1;
      else others.push([outcome, text]);
    }
  }
  return { refusals, others };
}

for (let index = 0; index < rounds; index++) {
  const userId = `user_${index % 5}`;
  await adjust(db, { userId, amount: 10, key: `gift:${index}`, reference: {} });
  await debit(db, { userId, amount: 3, key: `debit:${index}`, reference: {} });
}

test("over 1,000 attempts of the service's role to change, remove or unlock ledger rows are refused", async (t) => {
  const before = await fingerprint();
  const { refusals, others } = await attemptAll(db, [...changes, ...escapes]);
  t.diagnostic(`${refusals} refused`);
  assert.deepEqual(others, []);
  assert.ok(refusals >= 1_000);
  assert.deepEqual(await fingerprint(), before);
});

test("the owner of the tables is refused by the trigger, 625 times of 625", async () => {
  const before = await fingerprint();
  const { refusals, others } = await attemptAll(owner, changes);
  assert.deepEqual(others, []);
  assert.equal(refusals, 625);
  assert.deepEqual(await fingerprint(), before);
});
