import assert from "node:assert/strict";
import { test } from "node:test";
import { getMigrations } from "better-auth/db/migration";
import { systemClock } from "../clock.ts";
import { createTokenVerifier } from "./id-token.ts";
import { identityOptions } from "./identity-options.ts";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import {
  callAs,
  cookieSetBy,
  secret,
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
const verifier = createTokenVerifier({
  builtIn: identity.issuer,
  outsideIssuers: [],
  fetchJson: () => assert.fail("the built-in keys need no call"),
  clock: systemClock,
  log: quiet,
});

test("sign-up, session, ID token, verification: the same user all the way", async () => {
  const person = somebody();
  const session = await sessionOf(app, person);
  const { user } = (await call("/get-session", undefined, session)).json();
  assert.equal(user.email, person.email);
  const { token } = (await call("/token", undefined, session)).json();
  assert.deepEqual(await verifier.verify(token), {
    userId: user.id,
    issuer: webUrl,
    email: person.email,
    name: person.name,
  });
  const { keys } = (await call("/jwks")).json();
  assert.equal(keys[0].alg, "EdDSA");
  assert.equal(keys[0].d, undefined);
});

test("the same flow over a real socket", async () => {
  const person = somebody();
  await sessionOf(app, person);
  const base = `${await app.listen({ port: 0, host: "127.0.0.1" })}/api/auth`;
  const signIn = await fetch(`${base}/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: webUrl },
    body: JSON.stringify({ email: person.email.toUpperCase(), password: person.password }),
  });
  assert.equal(signIn.status, 200);
  const cookie = signIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const answer = await fetch(`${base}/token`, { headers: { cookie } });
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { token } = (await answer.json()) as { token: string };
  assert.ok("userId" in (await verifier.verify(token)));
});

test("wrong password and unknown address get the same answer", async () => {
  const person = somebody();
  await sessionOf(app, person);
  const wrong = await call("/sign-in/email", { email: person.email, password: "not the password" });
  const unknown = await call("/sign-in/email", {
    email: somebody().email,
    password: "not the password",
  });
  assert.equal(wrong.statusCode, 401);
  assert.equal(unknown.statusCode, 401);
  const told = (answer: typeof wrong) => ({ ...answer.json().error, requestId: "", timestamp: "" });
  assert.deepEqual(told(wrong), told(unknown));
  assert.equal(cookieSetBy(wrong), undefined);
});

test("passwords have 10 to 128 characters, of any kind", async () => {
  const statusFor = async (password: string) =>
    (await call("/sign-up/email", { ...somebody(), password })).statusCode;
  assert.equal(await statusFor("a".repeat(9)), 400);
  assert.equal(await statusFor("a".repeat(10)), 200);
  assert.equal(await statusFor("é".repeat(128)), 200);
  assert.equal(await statusFor("a".repeat(129)), 400);
});

test("what a new user may not set is not set", async () => {
  const person = somebody();
  await call("/sign-up/email", { ...person, id: "chosen", emailVerified: true, role: "admin" });
  const { rows } = await owner.query<{ id: string; email_verified: boolean }>(
    "select id, email_verified from identity_users where email = $1",
    [person.email],
  );
  assert.match(rows[0]?.id ?? "", /^[A-Za-z0-9]{32}$/);
  assert.equal(rows[0]?.email_verified, false);
});

test("a sign-up that makes no sense is the caller's fault", async () => {
  const statusFor = async (body: object) => (await call("/sign-up/email", body)).statusCode;
  assert.equal(await statusFor({ ...somebody(), name: "n".repeat(201) }), 400);
  assert.equal(await statusFor({ ...somebody(), email: "not an address" }), 400);
  assert.equal(await statusFor({ ...somebody(), password: { length: 12 } }), 400);
  assert.equal(await statusFor({}), 400);
  assert.equal(await statusFor([1]), 400);
  const taken = somebody();
  await sessionOf(app, taken);
  assert.equal(await statusFor(taken), 400);
});

test("tries at a password are counted before the body is read; what a page asks all the time is not", async () => {
  let counted = 0;
  const limited = await testApp(db, identity, () => {
    counted += 1;
    return Promise.reject(new Error("too many"));
  });
  const ask = callAs(limited);
  for (const path of ["/sign-up/email", "/sign-in/email", "/change-password"])
    assert.equal((await ask(path, {})).statusCode, 500);
  assert.equal(counted, 3);
  for (const path of ["/get-session", "/jwks"]) assert.equal((await ask(path)).statusCode, 200);
  assert.equal(counted, 3);
});

test("without mail, resets and verifications say so", async () => {
  const { email } = somebody();
  const reset = await call("/request-password-reset", { email });
  assert.equal(reset.statusCode, 400);
  assert.equal(reset.json().error.details.reason, "RESET_PASSWORD_DISABLED");
  const verification = await call("/send-verification-email", { email });
  assert.equal(verification.statusCode, 400);
  assert.equal(verification.json().error.details.reason, "VERIFICATION_EMAIL_NOT_ENABLED");
});

test("what is not offered is not there", async () => {
  for (const path of [
    "/ok",
    "/error",
    "/callback/google",
    "/list-sessions",
    "/verify-email",
    "/reset-password/x",
  ]) {
    assert.equal((await call(path)).statusCode, 404, path);
  }
  for (const path of [
    "/sign-in/social",
    "/link-social",
    "/delete-user",
    "/change-email",
    "/update-user",
  ]) {
    assert.equal((await call(path, { provider: "google" })).statusCode, 404, path);
  }
});

test("signing keys are encrypted in the database", async () => {
  await call("/jwks");
  const { rows } = await owner.query<{ private_key: string }>(
    "select private_key from identity_jwks",
  );
  assert.ok(rows.length > 0);
  for (const row of rows) assert.doesNotMatch(row.private_key, /"d"|"x"|kty/);
});

test("a signing key past its time is replaced, and tokens of both are accepted", async () => {
  const session = await sessionOf(app, somebody());
  const before = (await call("/token", undefined, session)).json().token;
  await owner.query("update identity_jwks set expires_at = now() - interval '1 minute'");
  const renewed = (await call("/token", undefined, session)).json().token;
  assert.notEqual(renewed.split(".")[0], before.split(".")[0]);
  assert.ok("userId" in (await verifier.verify(renewed)));
  assert.ok("userId" in (await verifier.verify(before)));
});

test("a user is created once, however often and however much at once it is asked for", async () => {
  const person = somebody();
  const ids = await Promise.all([1, 2, 3].map(() => identity.createUser(person)));
  assert.equal(
    new Set([...ids, await identity.createUser({ ...person, password: "another password" })]).size,
    1,
  );
  const { rows } = await owner.query("select 1 from identity_sessions where user_id = $1", [
    ids[0],
  ]);
  assert.equal(rows.length, 0);
  assert.equal((await call("/sign-in/email", person)).statusCode, 200);
  await assert.rejects(identity.createUser({ ...somebody(), password: "short" }));
});

test("the migration made all that Better Auth asks for", async () => {
  const plan = await getMigrations(identityOptions({ db: owner, log: quiet, secret, webUrl }));
  assert.deepEqual([plan.toBeCreated, plan.toBeAdded, plan.schemaProblems], [[], [], []]);
});

test("signing in leaves an audit entry, refused or not, and never the password", async () => {
  const person = somebody();
  await sessionOf(app, person);
  await call("/sign-in/email", person);
  await call("/sign-in/email", { ...person, password: "not the password" });
  const { rows } = await owner.query<{ action: string; row: string }>(
    "select action, a::text as row from audit_log a order by id desc limit 3",
  );
  assert.deepEqual(
    rows.map((row) => row.action),
    ["identity.sign-in.email.refused", "identity.sign-in.email", "identity.sign-up.email"],
  );
  assert.ok(rows.every(({ row }) => !row.includes("password")));
});
