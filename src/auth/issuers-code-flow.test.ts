import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { exportJWK, generateKeyPair } from "jose";
import { pino } from "pino";
import { systemClock } from "../clock.ts";
import { createOutbound } from "../outbound/index.ts";
import { createTokenVerifier } from "./id-token.ts";

const redirectUri = "https://app.example/callback";
const client = { client_id: "herald", client_secret: randomBytes(16).toString("hex") };

// The package carries no types; this is the part of it that is used here.
type Provider = new (issuer: string, settings: object) => { callback(): RequestListener };
const packageName: string = "oidc-provider";

async function startProvider(): Promise<string> {
  const { default: Provider } = (await import(packageName)) as { default: Provider };
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: [redirectUri] }],
    cookies: { keys: [randomBytes(16).toString("hex")] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "rsa", use: "sig" }] },
    claims: { openid: ["sub", "email", "name"] },
    conformIdTokenClaims: false,
    ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, name: id }),
    }),
    features: { devInteractions: { enabled: true } },
  });
  server.on("request", provider.callback());
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return issuer;
}

/** Walks through sign-in and consent as a browser would, and brings back the code. */
async function obtainCode(issuer: string, challenge: string): Promise<string> {
  const cookies = new Map<string, string>();
  const go = async (url: string, form?: Record<string, string>): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const body = form && new URLSearchParams(form);
    const answer = await fetch(url, {
      method: form ? "POST" : "GET",
      headers: { cookie },
      body,
      redirect: "manual",
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    assert.ok(answer.status < 400, `${url} answered ${answer.status}`);
    return new URL(answer.headers.get("location") ?? "", url).href;
  };
  const query = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid",
    code_challenge: challenge,
    code_challenge_method: "S256",
  });
  const signIn = await go(`${issuer}/auth?${query.toString()}`);
  const consent = await go(await go(signIn, { prompt: "login", login: "ada", password: "any" }));
  const callback = new URL(await go(await go(consent, { prompt: "consent" })));
  assert.equal(callback.origin + callback.pathname, redirectUri);
  return callback.searchParams.get("code") ?? "";
}

test("the ID token of a full code flow at a certified provider is accepted; its access token is not", async () => {
  const issuer = await startProvider();
  const verifierOfCode = randomBytes(32).toString("base64url");
  const code = await obtainCode(issuer, hash("sha256", verifierOfCode, "base64url"));
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(Object.values(client).join(":")).toString("base64")}`,
    },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifierOfCode,
    }),
  });
  const tokens = (await answer.json()) as { id_token: string; access_token: string };

  const log = pino({ level: "silent" });
  const { verify } = createTokenVerifier({
    builtIn: {
      issuer: "http://localhost",
      audience: "-",
      loadKeys: () => Promise.resolve({ keys: [] }),
    },
    outsideIssuers: [{ issuer, audience: client.client_id }],
    fetchJson: createOutbound({ log }).fetchJson,
    clock: systemClock,
    log,
  });
  const user = await verify(tokens.id_token);
  assert.ok("userId" in user, JSON.stringify(user));
  assert.match(user.userId, /^oidc_/);
  assert.deepEqual([user.issuer, user.email, user.name], [issuer, "ada@example.com", "ada"]);
  assert.ok("refused" in (await verify(tokens.access_token)));
});
