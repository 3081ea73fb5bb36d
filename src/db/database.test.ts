import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { Client } from "pg";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { migrateAll } from "../migrate.ts";
import { createPool, inTransaction, isUnavailable } from "./index.ts";

const { url, db, ownerUrl, owner } = await testDatabase();
await owner.query("create table things (id int primary key, n int not null default 0)");

test("a transaction that fails leaves nothing, and its connection is used again", async () => {
  await assert.rejects(
    inTransaction(db, async (tx) => {
      await tx.query("insert into things (id) values (1)");
      throw new Error("no");
    }),
    { message: "no" },
  );
  assert.equal((await db.query("select 1 from things")).rowCount, 0);
  assert.equal(db.totalCount, db.idleCount);
});

test("crossed locks end in two committed transactions, never in an error for the caller", async () => {
  await db.query("insert into things (id) values (10), (11)");
  const add = async (first: number, second: number) =>
    await inTransaction(db, async (tx) => {
      await tx.query("update things set n = n + 1 where id = $1", [first]);
      await tx.query("select pg_sleep(0.01)");
      await tx.query("update things set n = n + 1 where id = $1", [second]);
    });
  await Promise.all(
    Array.from({ length: 6 }, async (_, i) => await (i % 2 ? add(10, 11) : add(11, 10))),
  );
  const { rows } = await db.query<{ n: number }>("select n from things where id in (10, 11)");
  assert.deepEqual(
    rows.map((row) => row.n),
    [6, 6],
  );
});

test("a lost connection is an unavailable database, and the pool goes on", async () => {
  const pool = createPool({ url, name: "victim", size: 2 }, quiet);
  after(async () => await pool.end());
  const running = pool.query("select pg_sleep(30)");
  const outcome = running.then(
    () => assert.fail("it should have been cut"),
    (error: unknown) => assert.ok(isUnavailable(error)),
  );
  for (;;) {
    const { rowCount } = await owner.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim' and query like '%pg_sleep%'",
    );
    if (rowCount) break;
  }
  await outcome;
  assert.equal((await pool.query("select 1")).rowCount, 1);
});

test("a query that takes too long is cut by the server", async () => {
  const pool = createPool({ url, name: "slow", size: 1, statementTimeoutMs: 50 }, quiet);
  after(async () => await pool.end());
  await assert.rejects(pool.query("select pg_sleep(5)"), { code: "57014" });
});

test("the pool waits two seconds at most for a connection", async () => {
  const pool = createPool({ url, name: "full", size: 1 }, quiet);
  after(async () => await pool.end());
  const held = await pool.connect();
  await assert.rejects(pool.query("select 1"), isUnavailable);
  held.release();
});

test("two starters migrate one empty database once", async () => {
  const name = `twice_${randomBytes(6).toString("hex")}`;
  await owner.query(`create database ${name}`);
  const target = new URL(ownerUrl);
  target.pathname = `/${name}`;
  await Promise.all([
    migrateAll(target.href, quiet),
    migrateAll(target.href, quiet),
    migrateAll(target.href, quiet),
  ]);
  const client = new Client({ connectionString: target.href });
  await client.connect();
  const { rows } = await client.query<{ versions: number; files: number }>(
    "select count(*)::int as versions, count(distinct version)::int as files from schema_migrations",
  );
  await client.end();
  assert.ok(rows[0] && rows[0].versions > 0 && rows[0].versions === rows[0].files);
  await owner.query(`drop database ${name} with (force)`);
});

const forbidden = [
  "create table mine (id int)",
  "create schema mine",
  "create index on api_keys (name)",
  "create function mine() returns int language sql as 'select 1'",
  "alter table api_keys add column mine int",
  "alter table api_keys disable trigger all",
  "alter table audit_log disable trigger append_only",
  "alter table audit_log owner to herald_service",
  "drop table api_keys",
  "drop table audit_log",
  "drop trigger append_only on audit_log",
  "drop function refuse_change() cascade",
  "create or replace function refuse_change() returns trigger language plpgsql as 'begin return new; end'",
  "select make_append_only('api_keys')",
  "update audit_log set actor = 'someone else'",
  "delete from audit_log",
  "truncate audit_log",
  "update schema_migrations set version = 0",
  "delete from schema_migrations",
  "insert into schema_migrations (version, name) values (9999, 'x')",
  "alter role herald_service login",
  "create role mine",
  "copy audit_log to '/tmp/stolen'",
  "copy audit_log from program 'id'",
  "select pg_read_file('/etc/passwd')",
  "alter system set fsync = off",
  "set session authorization herald",
  "set role herald",
  "set role none; delete from audit_log",
  "reset role; delete from audit_log",
  "create extension pg_trgm",
];

for (const statement of forbidden) {
  test(`the service's role may not: ${statement}`, async () => {
    await assert.rejects(db.query(statement), { code: /^(42501|42P17|0A000)$/ });
  });
}

test("not even the owner changes an audit entry", async () => {
  await db.query("insert into audit_log (actor, action) values ('a', 'b')");
  for (const statement of [
    "update audit_log set actor = 'x'",
    "delete from audit_log",
    "truncate audit_log",
  ]) {
    await assert.rejects(owner.query(statement), { code: "42501" });
  }
});

test("a connection lost between two statements of a transaction fails it, not the process", async () => {
  const lost = inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>("select pg_backend_pid() as pid");
    const isGone = new Promise((resolve) => tx.once("end", resolve));
    await owner.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
    await isGone;
    await tx.query("select 1");
  });
  await assert.rejects(lost, isUnavailable);
  assert.equal((await db.query("select 1")).rowCount, 1);
});
