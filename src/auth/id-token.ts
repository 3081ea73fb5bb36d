import { decodeJwt, errors, jwtVerify } from "jose";
import type { JWTHeaderParameters, JWTPayload } from "jose";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { FetchJson } from "../outbound/index.ts";
import { listIssuers } from "./issuers.ts";
import type { BuiltInIssuer, Issuer } from "./issuers.ts";
import { createKeyFinder, KeysUnavailable } from "./issuers-keys.ts";
import type { FindKey } from "./issuers-keys.ts";

export interface TokenUser {
  userId: string;
  issuer: string;
  email?: string;
  name?: string;
}

export type Refusal =
  | "malformed"
  | "issuer"
  | "type"
  | "algorithm"
  | "key"
  | "keys_unavailable"
  | "signature"
  | "audience"
  | "expired"
  | "not_yet_valid"
  | "claims";

export interface TokenVerifier {
  verify: (token: string) => Promise<TokenUser | { refused: Refusal }>;
}

export interface TokenVerifierDeps {
  builtIn: BuiltInIssuer;
  outsideIssuers: readonly { issuer: string; audience: string }[];
  fetchJson: FetchJson;
  clock: Clock;
  log: Logger;
}

const maxLength = 8_192;
const toleranceSeconds = 30;
// Signatures only: with a shared-secret algorithm on this list a public key could be passed off as the secret.
const algorithms = "EdDSA Ed25519 ES256 ES384 ES512 RS256 RS384 RS512 PS256 PS384 PS512".split(" ");

const refusalOfCode: Record<string, Refusal> = {
  ERR_JOSE_ALG_NOT_ALLOWED: "algorithm",
  ERR_JOSE_NOT_SUPPORTED: "algorithm",
  ERR_JWKS_NO_MATCHING_KEY: "key",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "key",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "signature",
  ERR_JWT_EXPIRED: "expired",
  ERR_JWT_CLAIM_VALIDATION_FAILED: "claims",
};

function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof KeysUnavailable) return "keys_unavailable";
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === "nbf") {
    return error.reason === "check_failed" ? "not_yet_valid" : "claims";
  }
  return error instanceof errors.JOSEError ? (refusalOfCode[error.code] ?? "malformed") : undefined;
}

/** Who the token says it is from. Nothing of it is believed yet: it only picks the keys to check it with. */
function claimedIssuer(token: string): string | undefined {
  if (token.length > maxLength) return undefined;
  try {
    return decodeJwt(token).iss;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** The rules of ID tokens (OpenID Connect Core 1.0, 3.1.3.7) that are beyond those of any signed token. */
function refusalOfClaims(
  header: JWTHeaderParameters,
  claims: JWTPayload,
  issuer: Issuer,
): Refusal | undefined {
  // An access token (at+jwt) or a logout token (logout+jwt) is signed by the same keys and means something else.
  if (header.typ !== undefined && header.typ.toUpperCase() !== "JWT") return "type";
  const audiences = [claims.aud ?? []].flat();
  if (audiences.length === 0 || !audiences.every((audience) => issuer.audiences.has(audience)))
    return "audience";
  return undefined;
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === "string" && claim !== "" ? claim : undefined;
}

export function createTokenVerifier(deps: TokenVerifierDeps): TokenVerifier {
  const { clock, log } = deps;
  const issuers = new Map<string | undefined, { issuer: Issuer; findKey: FindKey }>(
    listIssuers(deps.builtIn, deps.outsideIssuers, deps.fetchJson).map((issuer) => [
      issuer.issuer,
      { issuer, findKey: createKeyFinder(issuer, deps) },
    ]),
  );

  async function check(
    token: string,
    issuer: Issuer,
    findKey: FindKey,
  ): Promise<TokenUser | { refused: Refusal }> {
    const now = clock.now();
    const { protectedHeader, payload } = await jwtVerify(token, findKey, {
      issuer: issuer.issuer,
      algorithms,
      requiredClaims: ["exp", "iat", "sub"],
      clockTolerance: toleranceSeconds,
      currentDate: now,
    });
    const refused = refusalOfClaims(protectedHeader, payload, issuer);
    if (refused) return { refused };
    const { sub, iat = 0 } = payload;
    if (iat > now.getTime() / 1000 + toleranceSeconds) return { refused: "not_yet_valid" };
    if (typeof sub !== "string" || sub.length < 1 || sub.length > 255) return { refused: "claims" };
    const [email, name] = [textOf(payload["email"]), textOf(payload["name"])];
    return { userId: issuer.userIdOf(sub), issuer: issuer.issuer, email, name };
  }

  return {
    async verify(token) {
      const claimed = claimedIssuer(token);
      if (claimed === undefined) return { refused: "malformed" };
      const trusted = issuers.get(claimed);
      if (!trusted) return { refused: "issuer" };
      try {
        return await check(token, trusted.issuer, trusted.findKey);
      } catch (error) {
        const refused = refusalOf(error);
        if (refused) return { refused };
        // A key of the issuer that can't be used: the token can't be checked, so it is not believed.
        log.warn({ err: error, issuer: claimed }, "an ID token could not be checked");
        return { refused: "key" };
      }
    },
  };
}
