import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ada,
  authorize,
  connect,
  consent,
  grace,
  locationOf,
  redirectUri,
  set,
  start,
} from "./linkedin.testing.ts";

const answerIn = (url: URL): Record<string, string> => Object.fromEntries(url.searchParams);

describe("the consent screen", () => {
  test("names the app, the scopes and every member, and changes nothing", async (t) => {
    const sandbox = await start(t);
    const response = await authorize(sandbox);
    const text = await response.text();
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
    for (const shown of ["Herald", "sandbox-linkedin", "w_member_social", "Ada Lovelace", "AL"]) {
      assert.ok(text.includes(shown), shown);
    }
    assert.match(text, /name="member"[^>]*value="Grace1906H"/);
    assert.match(text, /name="decision"[^>]*value="allow"/);
    const [entry] = sandbox.journal.find().entries;
    assert.deepEqual([entry?.operation, entry?.accepted], ["linkedin.authorize", false]);
  });

  test("Allow sends the member back with a code and the state", async (t) => {
    const sandbox = await start(t);
    const state = "a b&c=d";
    const response = await authorize(sandbox, { state }, consent("allow", grace));
    const location = locationOf(response);
    assert.equal(location.origin + location.pathname, redirectUri);
    assert.equal(location.searchParams.get("state"), state);
    assert.match(location.searchParams.get("code") ?? "", /^AQ[\w-]{100,}$/);
    const [entry] = sandbox.journal.find({ accepted: true }).entries;
    assert.equal(entry?.operation, "linkedin.authorize");
    assert.deepEqual(entry?.outcome, { status: 302, remoteId: `urn:li:person:${grace}` });
  });

  for (const [decision, error] of [
    ["cancel", "user_cancelled_authorize"],
    ["cancel-login", "user_cancelled_login"],
  ] as const) {
    test(`${decision} sends the member back with ${error} and the state`, async (t) => {
      const sandbox = await start(t);
      const response = await authorize(sandbox, {}, consent(decision, ada));
      const answer = answerIn(locationOf(response));
      assert.deepEqual(
        [answer["error"], answer["state"], answer["code"]],
        [error, "s1", undefined],
      );
      assert.ok(answer["error_description"]);
    });
  }

  test("the query of the redirect address is kept", async (t) => {
    const sandbox = await start(t);
    const ask = { redirect_uri: `${redirectUri}?a=1` };
    const location = locationOf(await authorize(sandbox, ask, consent("allow", ada)));
    assert.equal(location.searchParams.get("a"), "1");
    assert.ok(location.searchParams.get("code"));
  });

  test("without a state none comes back", async (t) => {
    const sandbox = await start(t);
    const response = await authorize(sandbox, { state: undefined }, consent("allow", ada));
    assert.equal(locationOf(response).searchParams.get("state"), null);
  });

  test("a form without a known member or decision is refused", async (t) => {
    const sandbox = await start(t);
    for (const form of [consent("allow", "nobody"), consent("maybe", ada)]) {
      assert.equal((await authorize(sandbox, {}, form)).status, 400);
    }
    assert.deepEqual(sandbox.journal.find({ accepted: true }).entries, []);
  });
});

describe("an unusable request sends nobody anywhere", () => {
  const cases: [name: string, ask: Record<string, string | undefined>, problem: RegExp][] = [
    ["no client", { client_id: undefined }, /&quot;client_id&quot; is missing/],
    ["an unknown client", { client_id: "x" }, /client_id is invalid/],
    ["no redirect address", { redirect_uri: undefined }, /&quot;redirect_uri&quot; is missing/],
    ["a relative redirect address", { redirect_uri: "/cb" }, /does not match/],
    ["a redirect address with a fragment", { redirect_uri: `${redirectUri}#x` }, /does not match/],
    ["a plain http address elsewhere", { redirect_uri: "http://example.com/" }, /does not match/],
    ["a script as redirect address", { redirect_uri: "javascript:alert(1)" }, /does not match/],
  ];
  for (const [name, ask, problem] of cases) {
    test(`${name} gets a page with status 400, also for a posted consent`, async (t) => {
      const sandbox = await start(t);
      for (const init of [{}, consent("allow", ada)]) {
        const response = await authorize(sandbox, ask, init);
        assert.deepEqual([response.status, response.headers.get("location")], [400, null]);
        assert.match(await response.text(), problem);
      }
    });
  }

  test("once redirect addresses are registered, only an exact match is taken", async (t) => {
    const sandbox = await start(t);
    await set(sandbox, { redirectUris: [redirectUri] });
    assert.equal((await authorize(sandbox)).status, 200);
    const other = await authorize(sandbox, { redirect_uri: `${redirectUri}/` });
    assert.equal(other.status, 400);
  });
});

describe("a request that the app may not make is answered to the app", () => {
  const cases: [name: string, ask: Record<string, string | undefined>, error: string][] = [
    ["an unknown scope", { scope: "openid fly" }, "unauthorized_scope_error"],
    ["the closed scope", { scope: "r_member_social" }, "unauthorized_scope_error"],
    [
      "a vetted scope by a self-serve app",
      { client_id: "sandbox-linkedin-self-serve", scope: "openid r_basicprofile" },
      "unauthorized_scope_error",
    ],
    ["no scope", { scope: undefined }, "invalid_request"],
    ["another response type", { response_type: "token" }, "unsupported_response_type"],
  ];
  for (const [name, ask, error] of cases) {
    test(`${name} is ${error}, before any consent`, async (t) => {
      const sandbox = await start(t);
      const answer = answerIn(locationOf(await authorize(sandbox, ask)));
      assert.deepEqual([answer["error"], answer["state"]], [error, "s1"]);
    });
  }
});

describe("prompt=none", () => {
  const signedIn = { headers: { cookie: `sandbox_linkedin_member=${ada}` } };

  test("skips the screen for the signed-in member who allowed the same before", async (t) => {
    const sandbox = await start(t);
    await connect(sandbox);
    const ask = { prompt: "none", scope: "profile openid w_member_social" };
    const location = locationOf(await authorize(sandbox, ask, signedIn));
    assert.ok(location.searchParams.get("code"));
  });

  test("shows it to strangers, for other scopes, and at the first time", async (t) => {
    const sandbox = await start(t);
    assert.equal((await authorize(sandbox, { prompt: "none" }, signedIn)).status, 200);
    await connect(sandbox);
    assert.equal((await authorize(sandbox, { prompt: "none" })).status, 200);
    const more = { prompt: "none", scope: "openid email" };
    assert.equal((await authorize(sandbox, more, signedIn)).status, 200);
  });

  test("the consent form signs its member in", async (t) => {
    const sandbox = await start(t);
    const response = await authorize(sandbox, {}, consent("allow", grace));
    assert.match(response.headers.get("set-cookie") ?? "", /^sandbox_linkedin_member=Grace1906H;/);
  });
});
