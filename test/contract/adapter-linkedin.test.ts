import assert from "node:assert/strict";
import { linkedin } from "../../src/platforms/linkedin/adapter.ts";
import { adapterSuite } from "./adapter-suite.ts";

const redirectUri = "http://127.0.0.1/callback";

adapterSuite({
  service: "linkedin",
  operations: { profile: "linkedin.userinfo", publish: "linkedin.ugcPosts.create" },
  idHeaders: ["x-restli-id"],
  adapterAt: (sandboxUrl) =>
    linkedin({
      authUrl: `${sandboxUrl}/linkedin/oauth/v2/authorization`,
      tokenUrl: `${sandboxUrl}/linkedin/oauth/v2/accessToken`,
      userinfoUrl: `${sandboxUrl}/linkedin/v2/userinfo`,
      profileUrl: `${sandboxUrl}/linkedin/v2/me`,
      ugcUrl: `${sandboxUrl}/linkedin/v2/ugcPosts`,
      webUrl: `${sandboxUrl}/linkedin`,
      clientId: "sandbox-linkedin",
      clientSecret: "sandbox-linkedin-secret",
      refusesRepeatsForMs: 480_000,
    }),
  async connect({ oauth }) {
    const { authorizeUrl, tokenUrl, clientId, clientSecret, scopes, scopeSeparator } = oauth;
    const ask = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: scopes.join(scopeSeparator),
      state: "any",
    });
    const consent = await fetch(`${authorizeUrl}?${ask.toString()}`, {
      method: "POST",
      body: new URLSearchParams({ decision: "allow", member: "Ada1815_Lv" }),
      redirect: "manual",
    });
    const code = new URL(consent.headers.get("location") ?? "").searchParams.get("code");
    const token = await fetch(tokenUrl, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: code ?? "",
        redirect_uri: redirectUri,
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    assert.equal(token.status, 200);
    return ((await token.json()) as { access_token: string }).access_token;
  },
  textIn: (body) =>
    JSON.parse(body).specificContent["com.linkedin.ugc.ShareContent"].shareCommentary.text,
});
