import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Sandbox } from "../app.ts";
import { addFault } from "../testing.ts";
import { advance, connect, dayMs, get, oauth, start } from "./linkedin.testing.ts";

async function errorOf(response: Response): Promise<unknown> {
  return { http: response.status, ...((await response.json()) as object) };
}

describe("userinfo", () => {
  test("tells who the member is", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    const response = await get(sandbox, "/v2/userinfo", access_token);
    const { picture, ...rest } = (await response.json()) as { picture: string };
    assert.deepEqual(rest, {
      sub: "Ada1815_Lv",
      name: "Ada Lovelace",
      given_name: "Ada",
      family_name: "Lovelace",
      locale: "en-US",
    });
    assert.ok(picture.startsWith(`${sandbox.url}/linkedin/dms/image/`));
    assert.ok(response.headers.get("x-li-uuid"));
    const [entry] = sandbox.journal.find({ operation: "linkedin.userinfo" }).entries;
    assert.deepEqual(entry?.notes, ["read"]);
  });

  test("gives what the scopes cover and no more", async (t) => {
    const sandbox = await start(t);
    const openid = await connect(sandbox, { scope: "openid" });
    const only = await get(sandbox, "/v2/userinfo", openid.access_token);
    assert.deepEqual(await only.json(), { sub: "Ada1815_Lv" });
    const email = await connect(sandbox, { scope: "openid email" });
    const more = await get(sandbox, "/v2/userinfo", email.access_token);
    assert.deepEqual(await more.json(), {
      sub: "Ada1815_Lv",
      email: "ada@example.com",
      email_verified: true,
    });
    const posting = await connect(sandbox, { scope: "w_member_social" });
    assert.deepEqual(await errorOf(await get(sandbox, "/v2/userinfo", posting.access_token)), {
      http: 403,
      status: 403,
      code: "ACCESS_DENIED",
      serviceErrorCode: 100,
      message: "Not enough permissions to access: userinfo.GET.NO_VERSION",
    });
  });

  test("hands out a picture whose address expires", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    const response = await get(sandbox, "/v2/userinfo", access_token);
    const { picture } = (await response.json()) as { picture: string };
    const image = await fetch(picture);
    assert.deepEqual([image.status, image.headers.get("content-type")], [200, "image/svg+xml"]);
    await advance(sandbox, 30 * dayMs);
    assert.equal((await fetch(picture)).status, 403);
  });
});

describe("the profile", () => {
  test("is open to r_basicprofile, with the vanity name", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox, { scope: "r_basicprofile w_member_social" });
    const response = await get(sandbox, "/v2/me", access_token);
    const profile = (await response.json()) as Record<string, unknown>;
    assert.equal(response.status, 200);
    assert.deepEqual(
      ["id", "localizedFirstName", "localizedLastName", "vanityName"].map((name) => profile[name]),
      ["Ada1815_Lv", "Ada", "Lovelace", "ada-lovelace"],
    );
    assert.equal((await get(sandbox, "/v2/userinfo", access_token)).status, 403);
  });

  test("is closed to the OpenID Connect scopes", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    assert.deepEqual(await errorOf(await get(sandbox, "/v2/me", access_token)), {
      http: 403,
      status: 403,
      code: "ACCESS_DENIED",
      serviceErrorCode: 100,
      message: "Not enough permissions to access: me.GET.NO_VERSION",
    });
  });
});

describe("a token that does not count gets 401", () => {
  const unauthorized = (code: string, serviceErrorCode: number, message: string): unknown => ({
    http: 401,
    status: 401,
    code: `${code}_ACCESS_TOKEN`,
    serviceErrorCode,
    message,
  });
  const expired = unauthorized("EXPIRED", 65_602, "Expired access token");
  const userinfo = async (sandbox: Sandbox, token: string): Promise<unknown> =>
    errorOf(await get(sandbox, "/v2/userinfo", token));

  test("none, or an empty one", async (t) => {
    const sandbox = await start(t);
    const empty = unauthorized("EMPTY", 65_600, "Empty oauth2 access token");
    assert.deepEqual(await errorOf(await fetch(`${sandbox.url}/linkedin/v2/userinfo`)), empty);
    assert.deepEqual(await userinfo(sandbox, ""), empty);
  });

  test("an unknown one", async (t) => {
    const invalid = unauthorized("INVALID", 65_601, "Invalid access token");
    assert.deepEqual(await userinfo(await start(t), "AQx"), invalid);
  });

  test("one after 60 days", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    await advance(sandbox, 60 * dayMs - 60_000);
    assert.equal((await get(sandbox, "/v2/userinfo", access_token)).status, 200);
    await advance(sandbox, 60_000);
    assert.deepEqual(await userinfo(sandbox, access_token), expired);
  });

  test("one that a fault expires, once", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    await addFault(sandbox, {
      service: "linkedin",
      effect: "expire_token",
      phase: "before",
      times: 1,
    });
    assert.deepEqual(await userinfo(sandbox, access_token), expired);
    assert.equal((await get(sandbox, "/v2/userinfo", access_token)).status, 200);
  });

  test("one that was revoked", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    const other = { token: access_token, client_id: "sandbox-linkedin-partner" };
    assert.equal((await oauth(sandbox, "revoke", other)).status, 200);
    assert.equal((await get(sandbox, "/v2/userinfo", access_token)).status, 200);
    assert.equal((await oauth(sandbox, "revoke", { token: access_token })).status, 200);
    const message = "The token used in the request has been revoked by the user";
    assert.deepEqual(
      await userinfo(sandbox, access_token),
      unauthorized("REVOKED", 65_601, message),
    );
    const revocations = sandbox.journal.find({ operation: "linkedin.revoke" }).entries;
    assert.deepEqual(
      revocations.map(({ accepted, outcome }) => [accepted, outcome.remoteId]),
      [
        [false, undefined],
        [true, "urn:li:person:Ada1815_Lv"],
      ],
    );
  });
});
