import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { Browser, stateIn, testConnections } from "./connections.testing.ts";

const { app, db, deps, config } = await testConnections();
const { token, userId, email } = await new Browser(app).signUp(config.urls.web);
const authorization = `Bearer ${token}`;

const inPublic = await testConnections(
  { BASE_URL: "https://herald.example" },
  { returnToOrigins: ["https://partner.example:8443/ignored"] },
);
const publicUser = await new Browser(inPublic.app).signUp(inPublic.config.urls.web);
const startInPublic = async (returnTo: string) =>
  await inPublic.app.inject({
    url: `/functions/networkAuthStart?returnTo=${encodeURIComponent(returnTo)}`,
    headers: { authorization: `Bearer ${publicUser.token}` },
  });

interface StateRow {
  id: string;
  uid: string;
  user_label: string;
  provider: string;
  return_to: string | null;
  browser_hash: string;
  code_verifier: string | null;
  code: string | null;
}

async function rowOf(state: string): Promise<StateRow | undefined> {
  const found = await db.query<StateRow>("select * from connection_states where id = $1", [
    hash("sha256", state),
  ]);
  return found.rows[0];
}

for (const name of ["networkAuthStart", "linkedinAuthStart"]) {
  test(`${name} sends the user to the platform with what the contract names, and nothing else`, async () => {
    const browser = new Browser(app);
    const url = `/functions/${name}?returnTo=${encodeURIComponent("/settings?tab=1#list")}`;
    const answer = await browser.ask(url, { headers: { authorization } });
    const address = new URL(String(answer.headers.location));
    const state = stateIn(answer);
    assert.equal(address.origin + address.pathname, "https://platform.example/authorize");
    assert.deepEqual(Object.fromEntries(address.searchParams), {
      from: "herald",
      response_type: "code",
      client_id: "client id",
      redirect_uri: "http://localhost:3000/functions/networkAuthCallback",
      scope: "w_member_social openid profile",
      state,
    });
    assert.equal(Buffer.from(state, "base64url").length, 32);
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.deepEqual(
      { ...(await rowOf(state)), created_at: null },
      {
        id: hash("sha256", state),
        uid: userId,
        user_label: email,
        provider: "network",
        return_to: "http://localhost:3000/settings?tab=1#list",
        browser_hash: hash("sha256", browser.cookies.get("connection") ?? ""),
        code_verifier: null,
        code: null,
        created_at: null,
      },
    );
  });
}

test("a platform with PKCE gets a challenge, and its verifier is stored sealed", async () => {
  const answer = await new Browser(app).ask("/functions/twitterAuthStart", {
    headers: { authorization },
  });
  const { searchParams } = new URL(String(answer.headers.location));
  const state = stateIn(answer);
  const row = await rowOf(state);
  assert.equal(row?.provider, "twitter");
  assert.equal(
    searchParams.get("redirect_uri"),
    "http://localhost:3000/functions/twitterAuthCallback",
  );
  assert.equal(searchParams.get("code_challenge_method"), "S256");
  const place = JSON.stringify(["connection_states", row?.id, "codeVerifier"]);
  const verifier = deps.sealer.open(row?.code_verifier ?? "", place);
  assert.equal(searchParams.get("code_challenge"), hash("sha256", verifier, "base64url"));
});

test("Accept: application/json gets the address as JSON", async () => {
  const answer = await new Browser(app).ask("/functions/networkAuthStart", {
    headers: { authorization, accept: "application/json" },
  });
  assert.equal(answer.statusCode, 200);
  assert.match(answer.json<{ url: string }>().url, /^https:\/\/platform\.example\/authorize\?/);
});

test("the session cookie is as good as an ID token", async () => {
  const browser = new Browser(app);
  const user = await browser.signUp(config.urls.web);
  const state = stateIn(await browser.ask("/functions/networkAuthStart"));
  assert.equal((await rowOf(state))?.uid, user.userId);
});

test("without a user it is 401 in the contract's body, whatever else is wrong", async () => {
  const cases = [
    {},
    { authorization: "Bearer nonsense" },
    { authorization: "Basic YTpi" },
    { cookie: "__session=nonsense" },
    // A bad token is not made good by a cookie.
    { authorization: "Bearer nonsense", cookie: "__session=nonsense" },
  ];
  for (const headers of cases) {
    const url = "/functions/networkAuthStart?returnTo=//evil&returnTo=2";
    const answer = await app.inject({ url, headers });
    assert.equal(answer.statusCode, 401);
    const { error } = answer.json<{ error: Record<string, unknown> }>();
    assert.equal(error["type"], "authentication_error");
    assert.equal(error["code"], "unauthorized");
    assert.equal(answer.headers["set-cookie"], undefined);
  }
});

test("a platform without an adapter is not there", async () => {
  for (const name of ["snapchatAuthStart", "snapchatAuthCallback", "xAuthStart", "AuthStart"]) {
    const answer = await app.inject({ url: `/functions/${name}`, headers: { authorization } });
    assert.equal(answer.statusCode, 404, name);
  }
});

test("the browser's cookie can be read by nobody and lives ten minutes; several starts share it", async () => {
  const browser = new Browser(app);
  const first = await browser.ask("/functions/networkAuthStart", { headers: { authorization } });
  const cookie = String(first.headers["set-cookie"]);
  assert.match(cookie, /^connection=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  const second = await browser.ask("/functions/twitterAuthStart", { headers: { authorization } });
  assert.equal(second.headers["set-cookie"], cookie);
  browser.cookies.set("connection", "chosen by somebody else");
  const third = await browser.ask("/functions/networkAuthStart", { headers: { authorization } });
  assert.notEqual(third.headers["set-cookie"], cookie);
  assert.match(String(third.headers["set-cookie"]), /^connection=[\w-]{43};/);
});

test("looking with HEAD starts and finishes nothing", async () => {
  for (const name of ["networkAuthStart", "networkAuthCallback"]) {
    const url = `/functions/${name}`;
    const answer = await app.inject({ method: "HEAD", url, headers: { authorization } });
    assert.equal(answer.statusCode, 404);
  }
});

test("outside localhost the cookie is Secure and belongs to this very host", async () => {
  const { headers } = await startInPublic("/");
  assert.match(
    String(headers["set-cookie"]),
    /^__Host-connection=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const { searchParams } = new URL(String(headers.location));
  assert.equal(
    searchParams.get("redirect_uri"),
    "https://herald.example/functions/networkAuthCallback",
  );
});

test("a listed origin may be returned to, one that looks like it may not", async () => {
  assert.equal((await startInPublic("https://partner.example:8443/done?a=1")).statusCode, 302);
  for (const address of [
    "https://partner.example/done",
    "http://partner.example:8443/done",
    "https://partner.example.evil.example:8443/",
    "https://sub.partner.example:8443/",
    "https:partner.example:8443/",
    "https:evil",
  ]) {
    assert.equal((await startInPublic(address)).statusCode, 400, address);
  }
});
