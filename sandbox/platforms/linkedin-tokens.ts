import { randomBytes } from "node:crypto";
import type { Call } from "../call.ts";
import type { Decision, Frame } from "../service.ts";
import { appOf } from "./linkedin-apps.ts";
import type { App } from "./linkedin-apps.ts";
import { personUrn } from "./linkedin-people.ts";
import { missingParameter, oauthRefusal, refusing } from "./linkedin-refusals.ts";
import { grantId, statusOf } from "./linkedin-state.ts";
import type { Code, LinkedIn, Token } from "./linkedin-state.ts";

const dayMs = 24 * 60 * 60 * 1000;
const accessLifeMs = 60 * dayMs;
const refreshLifeMs = 365 * dayMs;

export function tokenRoutes({ app, operation, read }: Frame, linkedin: LinkedIn): void {
  app.post(
    "/oauth/v2/accessToken",
    operation(
      "linkedin.token",
      refusing((call) => {
        const form = formOf(call);
        const grantType = required(form, "grant_type");
        const client = clientOf(form);
        if (grantType === "authorization_code") return redeem(linkedin, client, call);
        if (grantType === "refresh_token") return refresh(linkedin, client, call);
        throw oauthRefusal(400, "unsupported_grant_type", `"${grantType}" is not supported`);
      }),
    ),
  );
  app.post(
    "/oauth/v2/introspectToken",
    read(
      "linkedin.introspect",
      refusing((call) => introspect(linkedin, call)),
    ),
  );
  app.post(
    "/oauth/v2/revoke",
    operation(
      "linkedin.revoke",
      refusing((call) => revoke(linkedin, call)),
    ),
  );
}

function formOf(call: Call): URLSearchParams {
  const type = call.headers["content-type"] ?? "";
  return /^application\/x-www-form-urlencoded\b/i.test(type) ? call.form() : new URLSearchParams();
}

function required(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (!value) throw missingParameter(name);
  return value;
}

function clientOf(form: URLSearchParams): App {
  const app = appOf(required(form, "client_id"));
  if (app?.clientSecret !== required(form, "client_secret")) {
    throw oauthRefusal(401, "invalid_client", "Client authentication failed");
  }
  return app;
}

function redeem(linkedin: LinkedIn, { clientId, hasRefreshTokens }: App, call: Call): Decision {
  const form = formOf(call);
  const value = required(form, "code");
  const redirectUri = required(form, "redirect_uri");
  const code = linkedin.codes.get(value);
  if (!code) {
    const description = "Unable to retrieve access token: authorization code not found";
    throw oauthRefusal(401, "invalid_request", description);
  }
  const isExpired = call.tokenExpired || linkedin.now() >= code.expiresAt;
  if (isExpired || code.clientId !== clientId || code.redirectUri !== redirectUri) {
    const description =
      "Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired. Or external member binding exists";
    throw oauthRefusal(400, "invalid_redirect_uri", description);
  }

  linkedin.codes.delete(value);
  const { memberId, scope } = code;
  const generation = renewGrant(linkedin, code);
  const issuedAt = linkedin.now();
  const issued = { clientId, memberId, scope, generation, issuedAt };
  const access = mint(linkedin, { ...issued, kind: "access", expiresAt: issuedAt + accessLifeMs });
  if (!hasRefreshTokens) return answerOf(access);
  const expiresAt = issuedAt + refreshLifeMs;
  return answerOf(access, mint(linkedin, { ...issued, kind: "refresh", expiresAt }));
}

/** Another set of scopes ends all earlier tokens of this member and app. */
function renewGrant({ grants }: LinkedIn, code: Code): number {
  const id = grantId(code);
  const earlier = grants.get(id);
  if (earlier?.scope === code.scope) return earlier.generation;
  const generation = (earlier?.generation ?? 0) + 1;
  grants.set(id, { scope: code.scope, generation });
  return generation;
}

/** The refresh token stays as it is: using it does not extend its year, and an access token cannot outlive it. */
function refresh(linkedin: LinkedIn, { clientId }: App, call: Call): Decision {
  const value = required(formOf(call), "refresh_token");
  const token = linkedin.tokens.get(value);
  const isUsable =
    token?.kind === "refresh" &&
    token.clientId === clientId &&
    !call.tokenExpired &&
    statusOf(linkedin, token) === "active";
  if (!isUsable) {
    const description =
      "The provided authorization grant or refresh token is invalid, expired or revoked";
    throw oauthRefusal(400, "invalid_request", description);
  }
  const issuedAt = linkedin.now();
  const expiresAt = Math.min(issuedAt + accessLifeMs, token.expiresAt);
  const access = mint(linkedin, { ...token, kind: "access", issuedAt, expiresAt });
  return answerOf(access, { value, token });
}

interface Minted {
  value: string;
  token: Token;
}

function mint({ tokens }: LinkedIn, facts: Omit<Token, "isRevoked">): Minted {
  const value = `AQ${randomBytes(372).toString("base64url")}`;
  const token = { ...facts, isRevoked: false };
  tokens.set(value, token);
  return { value, token };
}

function answerOf(access: Minted, refresh?: Minted): Decision {
  const secondsLeft = ({ token }: Minted): number =>
    Math.floor((token.expiresAt - access.token.issuedAt) / 1000);
  return {
    accepted: true,
    status: 200,
    headers: { "cache-control": "no-store" },
    body: {
      access_token: access.value,
      expires_in: secondsLeft(access),
      ...(refresh && {
        refresh_token: refresh.value,
        refresh_token_expires_in: secondsLeft(refresh),
      }),
      scope: access.token.scope,
      token_type: "Bearer",
    },
    remoteId: personUrn(access.token.memberId),
  };
}

function introspect(linkedin: LinkedIn, call: Call): Decision {
  const form = formOf(call);
  const { clientId } = clientOf(form);
  const token = linkedin.tokens.get(required(form, "token"));
  if (token?.clientId !== clientId)
    return { accepted: false, status: 200, body: { active: false } };
  const status = call.tokenExpired ? "expired" : statusOf(linkedin, token);
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  return {
    accepted: false,
    status: 200,
    body: {
      active: status === "active",
      status,
      scope: token.scope,
      client_id: clientId,
      created_at: seconds(token.issuedAt),
      expires_at: seconds(token.expiresAt),
    },
  };
}

/** As RFC 7009 says: a token that the app does not have is as good as revoked. */
function revoke(linkedin: LinkedIn, call: Call): Decision {
  const form = formOf(call);
  const { clientId } = clientOf(form);
  const value = required(form, "token");
  const token = linkedin.tokens.get(value);
  if (token?.clientId !== clientId) return { accepted: false, status: 200 };
  linkedin.tokens.set(value, { ...token, isRevoked: true });
  return { accepted: true, status: 200, remoteId: personUrn(token.memberId) };
}
