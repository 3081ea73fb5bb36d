import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../test/helpers/database.ts";
import { deleteExpiredSessions } from "./identity-queries.ts";
import {
  callAs,
  cookieSetBy,
  sessionOf,
  somebody,
  testApp,
  testIdentity,
  webUrl,
} from "./identity.testing.ts";

const { db, owner } = await testDatabase();
const identity = testIdentity(db);
const app = await testApp(db, identity);
const call = callAs(app);
const isSignedIn = async (session: string) =>
  (await call("/get-session", undefined, session)).json() !== null;

test("the session's cookie is HttpOnly, SameSite=Lax, for the whole host and no other", async () => {
  const cookie = cookieSetBy(await call("/sign-up/email", somebody()));
  assert.deepEqual(cookie?.attributes.toSorted(), [
    "HttpOnly",
    "Max-Age=604800",
    "Path=/",
    "SameSite=Lax",
  ]);
});

test("outside localhost the cookie is Secure, under the same name", async () => {
  for (const url of ["https://herald.example", "http://herald.example", "https://localhost:3000"]) {
    const elsewhere = await testApp(db, testIdentity(db, url));
    const cookie = cookieSetBy(await callAs(elsewhere, url)("/sign-up/email", somebody()));
    assert.ok(cookie?.attributes.includes("Secure"), url);
  }
});

test("not to be remembered: the cookie ends with the browser", async () => {
  const person = somebody();
  await sessionOf(app, person);
  const answer = await call("/sign-in/email", { ...person, rememberMe: false });
  assert.deepEqual(cookieSetBy(answer)?.attributes.toSorted(), [
    "HttpOnly",
    "Path=/",
    "SameSite=Lax",
  ]);
});

test("signing out ends the session, not only the cookie", async () => {
  const session = await sessionOf(app, somebody());
  const answer = await call("/sign-out", {}, session);
  assert.equal(answer.statusCode, 200);
  assert.ok(cookieSetBy(answer)?.attributes.includes("Max-Age=0"));
  assert.equal(await isSignedIn(session), false);
  assert.equal((await call("/token", undefined, session)).statusCode, 401);
  assert.equal(await identity.readSession({ cookie: `__session=${session}` }), null);
  const { rows } = await owner.query(
    "select 1 from identity_sessions where token = split_part($1, '.', 1)",
    [session],
  );
  assert.equal(rows.length, 0);
});

test("signing in gives a new session and ends the one the browser had", async () => {
  const planted = await sessionOf(app, somebody());
  const victim = somebody();
  await sessionOf(app, victim);
  const session = cookieSetBy(await call("/sign-in/email", victim, planted))?.value ?? "";
  assert.notEqual(session, planted);
  assert.equal((await call("/get-session", undefined, session)).json().user.email, victim.email);
  assert.equal(await isSignedIn(planted), false);
});

test("a session value without its signature, or with another's, is nobody's", async () => {
  const one = await sessionOf(app, somebody());
  const other = await sessionOf(app, somebody());
  const [token = ""] = one.split(".");
  for (const forged of [
    token,
    `${token}.`,
    `${token}.${other.split(".")[1]}`,
    "x",
    "",
    "%00",
    `${one}x`,
  ]) {
    assert.equal(await isSignedIn(forged), false, forged);
    assert.equal(await identity.readSession({ cookie: `__session=${forged}` }), null, forged);
  }
});

test("who is signed in can be read from a request's headers", async () => {
  const person = somebody();
  const session = await sessionOf(app, person);
  const user = await identity.readSession({ cookie: `theme=dark; __session=${session}` });
  assert.deepEqual(
    { email: user?.email, name: user?.name },
    { email: person.email, name: person.name },
  );
  assert.equal(await identity.readSession({}), null);
});

test("a POST from another origin is refused, and changes nothing", async () => {
  const person = somebody();
  const session = await sessionOf(app, person);
  for (const origin of [
    "https://evil.example",
    "null",
    `${webUrl}.evil.example`,
    "http://localhost:3001",
  ]) {
    const elsewhere = callAs(app, origin);
    assert.equal((await elsewhere("/sign-in/email", person)).statusCode, 403, origin);
    assert.equal((await elsewhere("/sign-up/email", somebody())).statusCode, 403, origin);
    assert.equal((await elsewhere("/sign-out", {}, session)).statusCode, 403, origin);
    const passwords = { currentPassword: person.password, newPassword: "chosen elsewhere" };
    assert.equal((await elsewhere("/change-password", passwords, session)).statusCode, 403, origin);
  }
  assert.equal(await isSignedIn(session), true);
});

test("a POST with a session but no origin is refused", async () => {
  const session = await sessionOf(app, somebody());
  const headers = { cookie: `__session=${session}` };
  const answer = await app.inject({
    method: "POST",
    url: "/api/auth/sign-out",
    headers,
    payload: {},
  });
  assert.equal(answer.statusCode, 403);
  assert.equal(await isSignedIn(session), true);
});

test("a changed password ends every other session and the old password", async () => {
  const person = somebody();
  const elsewhere = await sessionOf(app, person);
  const here = cookieSetBy(await call("/sign-in/email", person))?.value ?? "";
  const newPassword = "a wholly new password";
  const wrong = await call(
    "/change-password",
    { currentPassword: "not the password", newPassword },
    here,
  );
  assert.equal(wrong.statusCode, 400);
  assert.equal(await isSignedIn(elsewhere), true);
  const changed = await call(
    "/change-password",
    { currentPassword: person.password, newPassword },
    here,
  );
  assert.equal(changed.statusCode, 200);
  assert.equal(await isSignedIn(cookieSetBy(changed)?.value ?? ""), true);
  assert.deepEqual([await isSignedIn(here), await isSignedIn(elsewhere)], [false, false]);
  assert.equal((await call("/sign-in/email", person)).statusCode, 401);
  assert.equal(
    (await call("/sign-in/email", { ...person, password: newPassword })).statusCode,
    200,
  );
});

test("an idle session ends, and its record is removed", async () => {
  const person = somebody();
  const session = await sessionOf(app, person);
  const forgotten = cookieSetBy(await call("/sign-in/email", person))?.value ?? "";
  await owner.query("update identity_sessions set expires_at = now() - interval '1 second'");
  assert.equal(await isSignedIn(session), false);
  await deleteExpiredSessions(db);
  const { rows } = await owner.query(
    "select 1 from identity_sessions where token = split_part($1, '.', 1)",
    [forgotten],
  );
  assert.equal(rows.length, 0);
});

test("use prolongs a session, but never past 30 days from sign-in", async () => {
  const session = await sessionOf(app, somebody());
  const age = async (age: string) =>
    await owner.query(
      `update identity_sessions set created_at = now() - $2::interval, expires_at = now() + interval '1 day'
       where token = split_part($1, '.', 1)`,
      [session, age],
    );
  const daysLeft = async () => {
    const { expiresAt } = (await call("/get-session", undefined, session)).json().session;
    return Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000);
  };
  await age("3 days");
  assert.equal(await daysLeft(), 7);
  await age("28 days");
  assert.equal(await daysLeft(), 2);
  await age("30 days");
  assert.equal(await isSignedIn(session), false);
});

test("the session remembers the connection's address, not one the client claims", async () => {
  const person = somebody();
  await app.inject({
    method: "POST",
    url: "/api/auth/sign-up/email",
    remoteAddress: "192.0.2.7",
    headers: { "x-forwarded-for": "203.0.113.9", "x-client-ip": "203.0.113.9" },
    payload: person,
  });
  const { rows } = await owner.query(
    "select s.ip_address from identity_sessions s join identity_users u on u.id = s.user_id where u.email = $1",
    [person.email],
  );
  assert.equal(rows[0].ip_address, "192.0.2.7");
});
