import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createPool, isUnavailable } from "../db/index.ts";
import { failingWithTheDatabase, watchedPool } from "./identity-database.ts";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { callAs, sessionOf, somebody, testApp, testIdentity } from "./identity.testing.ts";

const { ownerUrl, db, owner } = await testDatabase();
const app = await testApp(db, testIdentity(db));

test("more sign-ups at once than there are connections all succeed", async () => {
  const sessions = await Promise.all(Array.from({ length: 12 }, () => sessionOf(app, somebody())));
  assert.equal(new Set(sessions).size, 12);
});

test("a transaction keeps no connection before its first write, so none while a password is hashed", async () => {
  const inUse = () => db.totalCount - db.idleCount;
  const connection = await watchedPool(db).connect();
  try {
    await connection.query("begin", []);
    await connection.query("select 1", []);
    assert.equal(inUse(), 0);
    await connection.query("update identity_users set name = 'changed'", []);
    assert.equal(inUse(), 1);
    await connection.query("rollback", []);
  } finally {
    connection.release();
  }
  assert.equal(inUse(), 0);
  const { rowCount } = await owner.query("select 1 from identity_users where name = 'changed'");
  assert.equal(rowCount, 0);
});

test("a sign-up that fails half way leaves nothing behind", async () => {
  const person = somebody();
  await owner.query("alter table identity_accounts add constraint no_more check (false) not valid");
  try {
    assert.ok((await callAs(app)("/sign-up/email", person)).statusCode >= 400);
  } finally {
    await owner.query("alter table identity_accounts drop constraint no_more");
  }
  assert.ok(await sessionOf(app, person));
});

test("while the database is away every route answers 503, and none pretends", async () => {
  const person = somebody();
  const session = await sessionOf(app, person);
  const away = createPool({ url: "postgresql://127.0.0.1:1/none", name: "away", size: 2 }, quiet);
  after(() => away.end());
  const identity = testIdentity(away);
  const call = callAs(await testApp(away, identity));
  const passwords = { currentPassword: person.password, newPassword: "a wholly new password" };
  const answers = [
    await call("/sign-up/email", somebody()),
    await call("/sign-in/email", person),
    await call("/sign-out", {}, session),
    await call("/change-password", passwords, session),
    await call("/get-session", undefined, session),
    await call("/token", undefined, session),
    await call("/jwks"),
  ];
  for (const answer of answers) {
    assert.equal(answer.statusCode, 503, answer.body);
    assert.equal(answer.headers["set-cookie"], undefined);
    assert.doesNotMatch(answer.body, /127\.0\.0\.1|ECONNREFUSED/);
  }
  await assert.rejects(identity.readSession({ cookie: `__session=${session}` }), {
    code: "ECONNREFUSED",
  });
  await assert.rejects(identity.createUser(somebody()), { code: "ECONNREFUSED" });
});

test("a fault of ours is a 500 that tells nothing", async () => {
  const person = somebody();
  const session = await sessionOf(app, person);
  const blind = createPool(
    { url: ownerUrl, name: "blind", size: 2, role: "herald_readonly" },
    quiet,
  );
  after(() => blind.end());
  const call = callAs(await testApp(blind, testIdentity(blind)));
  for (const answer of [
    await call("/sign-in/email", person),
    await call("/get-session", undefined, session),
    await call("/jwks"),
  ]) {
    assert.equal(answer.statusCode, 500);
    assert.equal(answer.json().error.message, "Something went wrong on our side");
  }
});

test("a connection lost between two statements fails the next one, not the process", async () => {
  const isGone = new Promise<void>((resolve) =>
    db.once("acquire", (client) => client.once("end", () => resolve())),
  );
  const connection = await watchedPool(db).connect();
  try {
    await connection.query("begin", []);
    await connection.query("update identity_users set name = name", []);
    const { rowCount } = await owner.query(
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()",
    );
    assert.equal(rowCount, 1);
    await isGone;
    const next = failingWithTheDatabase(() => connection.query("select 1", []));
    await assert.rejects(next, isUnavailable);
  } finally {
    connection.release(true);
  }
});

test("the service's role can't change the tables, and dashboards can't read the secrets", async () => {
  await assert.rejects(db.query("alter table identity_users add column x int"), { code: "42501" });
  const client = await owner.connect();
  try {
    await client.query("set role herald_readonly");
    for (const table of ["sessions", "accounts", "verifications", "jwks"]) {
      await assert.rejects(
        client.query(`select * from identity_${table}`),
        { code: "42501" },
        table,
      );
    }
  } finally {
    client.release(true);
  }
});
