import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Sandbox } from "../app.ts";
import { addFault } from "../testing.ts";
import {
  advance,
  codeOf,
  connect,
  dayMs,
  get,
  grace,
  minuteMs,
  oauth,
  publish,
  redeem,
  redirectUri,
  start,
  ugcPost,
} from "./linkedin.testing.ts";
import type { TokenAnswer } from "./linkedin.testing.ts";

async function assertRefused(
  response: Response,
  expected: { status: number; error: string; description: RegExp },
): Promise<void> {
  const body = (await response.json()) as { error: string; error_description: string };
  assert.deepEqual([response.status, body.error], [expected.status, expected.error]);
  assert.match(body.error_description, expected.description);
}

const notFound = { status: 401, error: "invalid_request", description: /code not found$/ };
const noMatch = {
  status: 400,
  error: "invalid_redirect_uri",
  description: /does not match authorization code\. Or authorization code expired/,
};
const invalidClient = { status: 401, error: "invalid_client", description: /./ };
const invalidGrant = {
  status: 400,
  error: "invalid_request",
  description: /^The provided authorization grant or refresh token is invalid, expired or revoked$/,
};

describe("a code", () => {
  test("becomes a token of about 500 characters for 60 days", async (t) => {
    const sandbox = await start(t);
    const { access_token, ...rest } = await connect(sandbox);
    assert.match(access_token, /^AQ[\w-]{450,550}$/);
    assert.deepEqual(rest, {
      expires_in: 5_184_000,
      scope: "openid,profile,w_member_social",
      token_type: "Bearer",
    });
    const [entry] = sandbox.journal.find({ operation: "linkedin.token", accepted: true }).entries;
    assert.equal(entry?.outcome.remoteId, "urn:li:person:Ada1815_Lv");
  });

  test("works once", async (t) => {
    const sandbox = await start(t);
    const code = await codeOf(sandbox);
    assert.equal((await redeem(sandbox, { code })).status, 200);
    await assertRefused(await redeem(sandbox, { code }), notFound);
    assert.equal(
      sandbox.journal.find({ operation: "linkedin.token", accepted: true }).entries.length,
      1,
    );
  });

  test("works for half an hour", async (t) => {
    const sandbox = await start(t);
    const [early, late] = [await codeOf(sandbox), await codeOf(sandbox)];
    await advance(sandbox, 29 * minuteMs);
    assert.equal((await redeem(sandbox, { code: early })).status, 200);
    await advance(sandbox, minuteMs);
    await assertRefused(await redeem(sandbox, { code: late }), noMatch);
  });

  test("belongs to its app and its redirect address", async (t) => {
    const sandbox = await start(t);
    const code = await codeOf(sandbox);
    const other = { code, client_id: "sandbox-linkedin-partner" };
    await assertRefused(await redeem(sandbox, other), noMatch);
    const elsewhere = { code, redirect_uri: `${redirectUri}/` };
    await assertRefused(await redeem(sandbox, elsewhere), noMatch);
    assert.equal((await redeem(sandbox, { code })).status, 200);
  });

  test("that nobody issued is not found", async (t) => {
    await assertRefused(await redeem(await start(t), { code: "AQx" }), notFound);
  });
});

describe("the token address", () => {
  for (const name of ["grant_type", "client_id", "client_secret", "code", "redirect_uri"]) {
    test(`names the missing ${name}`, async (t) => {
      const sandbox = await start(t);
      const form = new URLSearchParams({
        grant_type: "authorization_code",
        client_id: "sandbox-linkedin",
        client_secret: "sandbox-linkedin-secret",
        code: "AQx",
        redirect_uri: redirectUri,
      });
      form.delete(name);
      const url = `${sandbox.url}/linkedin/oauth/v2/accessToken`;
      await assertRefused(await fetch(url, { method: "POST", body: form }), {
        status: 400,
        error: "invalid_request",
        description: new RegExp(`^A required parameter "${name}" is missing$`),
      });
    });
  }

  test("refuses a wrong secret and an unknown client alike", async (t) => {
    const sandbox = await start(t);
    const code = await codeOf(sandbox);
    await assertRefused(await redeem(sandbox, { code, client_secret: "x" }), invalidClient);
    await assertRefused(await redeem(sandbox, { code, client_id: "x" }), invalidClient);
    assert.equal((await redeem(sandbox, { code })).status, 200);
  });

  test("does not know other grant types", async (t) => {
    await assertRefused(await redeem(await start(t), { grant_type: "password" }), {
      status: 400,
      error: "unsupported_grant_type",
      description: /password/,
    });
  });
});

describe("a refresh token", () => {
  const partner = { client_id: "sandbox-linkedin-partner" };
  const refresh = (sandbox: Sandbox, refresh_token: string, changes = {}): Promise<Response> =>
    oauth(sandbox, "accessToken", {
      ...partner,
      grant_type: "refresh_token",
      refresh_token,
      ...changes,
    });

  test("is given to partners only", async (t) => {
    const sandbox = await start(t);
    assert.equal((await connect(sandbox)).refresh_token, undefined);
    const answer = await connect(sandbox, partner);
    assert.ok(answer.refresh_token);
    assert.equal(answer.refresh_token_expires_in, 365 * 24 * 3600);
  });

  test("gives access tokens until its year ends, which using it does not extend", async (t) => {
    const sandbox = await start(t);
    const { refresh_token = "" } = await connect(sandbox, partner);
    await advance(sandbox, 340 * dayMs);
    const answer = (await (await refresh(sandbox, refresh_token)).json()) as TokenAnswer;
    assert.equal(answer.refresh_token, refresh_token);
    assert.ok(answer.expires_in <= 25 * 24 * 3600 && answer.expires_in > 24 * 24 * 3600);
    assert.equal(answer.refresh_token_expires_in, answer.expires_in);
    assert.equal((await get(sandbox, "/v2/userinfo", answer.access_token)).status, 200);
    await advance(sandbox, 25 * dayMs);
    await assertRefused(await refresh(sandbox, refresh_token), invalidGrant);
  });

  test("belongs to its app, and is no access token", async (t) => {
    const sandbox = await start(t);
    const { refresh_token = "", access_token } = await connect(sandbox, partner);
    const other = { client_id: "sandbox-linkedin" };
    await assertRefused(await refresh(sandbox, refresh_token, other), invalidGrant);
    await assertRefused(await refresh(sandbox, access_token), invalidGrant);
    assert.equal((await get(sandbox, "/v2/userinfo", refresh_token)).status, 401);
  });

  test("can be revoked, and expired by a fault", async (t) => {
    const sandbox = await start(t);
    const { refresh_token = "" } = await connect(sandbox, partner);
    await addFault(sandbox, {
      service: "linkedin",
      operation: "linkedin.token",
      effect: "expire_token",
      phase: "before",
      times: 1,
    });
    await assertRefused(await refresh(sandbox, refresh_token), invalidGrant);
    assert.equal((await refresh(sandbox, refresh_token)).status, 200);
    await oauth(sandbox, "revoke", { ...partner, token: refresh_token });
    await assertRefused(await refresh(sandbox, refresh_token), invalidGrant);
  });
});

describe("another consent", () => {
  test("for the same scopes leaves earlier tokens alone", async (t) => {
    const sandbox = await start(t);
    const first = await connect(sandbox);
    await connect(sandbox, { scope: "openid profile w_member_social" });
    assert.equal((await get(sandbox, "/v2/userinfo", first.access_token)).status, 200);
  });

  test("for other scopes ends all earlier tokens of that member and app, and no others", async (t) => {
    const sandbox = await start(t);
    const first = await connect(sandbox);
    const ofGrace = await connect(sandbox, { member: grace });
    const partner = await connect(sandbox, { client_id: "sandbox-linkedin-partner" });
    const second = await connect(sandbox, { scope: "openid profile" });
    const statuses = await Promise.all(
      [first, ofGrace, partner, second].map(
        async ({ access_token }) => (await get(sandbox, "/v2/userinfo", access_token)).status,
      ),
    );
    assert.deepEqual(statuses, [401, 200, 200, 200]);
    const refused = await publish(sandbox, first.access_token, ugcPost("x"));
    assert.equal(((await refused.json()) as { code: string }).code, "REVOKED_ACCESS_TOKEN");
  });
});

describe("introspection", () => {
  const look = async (sandbox: Sandbox, token: string, changes = {}): Promise<unknown> =>
    (await oauth(sandbox, "introspectToken", { token, ...changes })).json();

  test("tells active, expired and revoked tokens apart", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    const active = (await look(sandbox, access_token)) as Record<string, unknown>;
    assert.deepEqual(
      [active["active"], active["status"], active["scope"]],
      [true, "active", "openid,profile,w_member_social"],
    );
    const inSixtyDays = (Date.now() + 60 * dayMs) / 1000;
    assert.ok(Math.abs(Number(active["expires_at"]) - inSixtyDays) < 60);
    await advance(sandbox, 60 * dayMs);
    const expired = (await look(sandbox, access_token)) as Record<string, unknown>;
    assert.deepEqual([expired["active"], expired["status"]], [false, "expired"]);
    await oauth(sandbox, "revoke", { token: access_token });
    const revoked = (await look(sandbox, access_token)) as Record<string, unknown>;
    assert.deepEqual([revoked["active"], revoked["status"]], [false, "revoked"]);
  });

  test("says nothing of unknown tokens and of those of other apps", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    assert.deepEqual(await look(sandbox, "AQx"), { active: false });
    const other = { client_id: "sandbox-linkedin-partner" };
    assert.deepEqual(await look(sandbox, access_token, other), { active: false });
  });

  test("needs the app's secret", async (t) => {
    const sandbox = await start(t);
    const form = { token: "AQx", client_secret: "x" };
    await assertRefused(await oauth(sandbox, "introspectToken", form), invalidClient);
    await assertRefused(await oauth(sandbox, "revoke", form), invalidClient);
  });
});
