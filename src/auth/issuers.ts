import { hash } from "node:crypto";
import type { JSONWebKeySet } from "jose";
import { z } from "zod";
import type { FetchJson } from "../outbound/index.ts";

/** Who may issue ID tokens for us, for which audiences, and where the keys come from. */
export interface Issuer {
  issuer: string;
  audiences: ReadonlySet<string>;
  /** The least time between two reads of the keys. */
  coolDownMs: number;
  loadKeys: () => Promise<JSONWebKeySet>;
  userIdOf: (subject: string) => string;
}

export interface BuiltInIssuer {
  issuer: string;
  audience: string;
  loadKeys: () => Promise<JSONWebKeySet>;
}

const limits = { timeoutMs: 5_000, maxBytes: 262_144 };
const outsideCoolDownMs = 30_000;
const discoveryDocument = z.object({
  issuer: z.string(),
  jwks_uri: z.url({ protocol: /^https?$/ }),
});
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** OpenID Connect Discovery 1.0, section 4: the document must name the very issuer it was asked for. */
async function loadOutsideKeys(issuer: string, fetchJson: FetchJson): Promise<JSONWebKeySet> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document = discoveryDocument.parse(await fetchJson(address, limits));
  if (document.issuer !== issuer) throw new Error(`${address} speaks for ${document.issuer}`);
  if (issuer.startsWith("https:") && !document.jwks_uri.startsWith("https:")) {
    throw new Error(`${address} names keys that would come unprotected`);
  }
  return keySet.parse(await fetchJson(document.jwks_uri, limits));
}

/**
 * A subject is unique within its issuer only. 128 bits of SHA-256 over both keep two issuers' users apart; the
 * underscore keeps them apart from built-in ids, which are letters and digits.
 */
function outsideUserId(issuer: string, subject: string): string {
  return `oidc_${hash("sha256", `${issuer}\0${subject}`).slice(0, 32)}`;
}

function outsideIssuer(issuer: string, audiences: Set<string>, fetchJson: FetchJson): Issuer {
  return {
    issuer,
    audiences,
    coolDownMs: outsideCoolDownMs,
    loadKeys: () => loadOutsideKeys(issuer, fetchJson),
    userIdOf: (subject) => outsideUserId(issuer, subject),
  };
}

export function listIssuers(
  builtIn: BuiltInIssuer,
  outside: readonly { issuer: string; audience: string }[],
  fetchJson: FetchJson,
): Issuer[] {
  const audiencesOf = new Map<string, Set<string>>();
  for (const { issuer, audience } of outside) {
    if (issuer === builtIn.issuer)
      throw new Error(`${issuer} is the built-in issuer, not an outside one`);
    audiencesOf.set(issuer, (audiencesOf.get(issuer) ?? new Set()).add(audience));
  }
  return [
    {
      issuer: builtIn.issuer,
      audiences: new Set([builtIn.audience]),
      // A key made a moment ago by another process must be found at once, and one more query is cheap.
      coolDownMs: 0,
      loadKeys: builtIn.loadKeys,
      userIdOf: (subject) => subject,
    },
    ...[...audiencesOf].map(([issuer, audiences]) => outsideIssuer(issuer, audiences, fetchJson)),
  ];
}
