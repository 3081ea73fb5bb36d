import { hash } from "node:crypto";
import { OutboundError } from "../outbound/index.ts";
import type { FetchJson } from "../outbound/index.ts";
import type { OAuthSettings } from "../platforms/index.ts";
import { TokenError, isRefusal, readTokens } from "./token-reply.ts";
import type { Assumed, Tokens } from "./token-reply.ts";

// The one OAuth client: what differs between platforms is in the adapter's data.

const limits = { timeoutMs: 10_000, maxBytes: 65_536 };

function scopeOf({ scopes, scopeSeparator }: OAuthSettings): string {
  return scopes.join(scopeSeparator);
}

export function authorizeAddress(
  settings: OAuthSettings,
  request: { redirectUri: string; state: string; codeVerifier: string | null },
): string {
  const url = new URL(settings.authorizeUrl);
  const parameters = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: request.redirectUri,
    scope: scopeOf(settings),
    state: request.state,
    ...(request.codeVerifier !== null && {
      code_challenge: hash("sha256", request.codeVerifier, "base64url"),
      code_challenge_method: "S256",
    }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** RFC 6749, 2.3.1: both parts are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: OAuthSettings): string {
  const encoded = [clientId, clientSecret].map((part) =>
    new URLSearchParams({ part }).toString().slice("part=".length),
  );
  return `Basic ${Buffer.from(encoded.join(":")).toString("base64")}`;
}

async function requestTokens(
  fetchJson: FetchJson,
  settings: OAuthSettings,
  grant: Record<string, string>,
  assumed: Assumed,
): Promise<Tokens> {
  const { tokenUrl, clientId, clientSecret, clientAuth } = settings;
  const isBasic = clientAuth === "basic";
  const client: Record<string, string> = isBasic
    ? {}
    : { client_id: clientId, client_secret: clientSecret };
  try {
    const body = await fetchJson(tokenUrl, {
      ...limits,
      method: "POST",
      headers: {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded",
        ...(isBasic && { authorization: basic(settings) }),
      },
      body: new URLSearchParams({ ...grant, ...client }).toString(),
    });
    return readTokens(body, assumed);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const isClientError = error.status === 400 || error.status === 401;
    throw new TokenError("the platform gave no tokens", {
      isRefused: isClientError && isRefusal(error.body ?? ""),
      cause: error,
    });
  }
}

export async function exchangeCode(
  fetchJson: FetchJson,
  settings: OAuthSettings,
  grant: { code: string; redirectUri: string; codeVerifier: string | null },
  askedAt: Date,
): Promise<Tokens> {
  const { code, redirectUri, codeVerifier } = grant;
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    ...(codeVerifier !== null && { code_verifier: codeVerifier }),
  };
  return await requestTokens(fetchJson, settings, form, { askedAt, scope: scopeOf(settings) });
}

/** A platform that sends no new refresh token lets the old one stand. */
export async function refreshTokens(
  fetchJson: FetchJson,
  settings: OAuthSettings,
  current: Assumed & { refreshToken: string },
): Promise<Tokens> {
  const form = { grant_type: "refresh_token", refresh_token: current.refreshToken };
  return await requestTokens(fetchJson, settings, form, current);
}
