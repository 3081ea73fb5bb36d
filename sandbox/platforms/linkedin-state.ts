import type { Frame } from "../service.ts";
import type { Collection } from "../store.ts";

/** Times are milliseconds since 1970 on the sandbox's clock. Scopes are sorted and joined by commas. */
export interface Code {
  clientId: string;
  memberId: string;
  redirectUri: string;
  scope: string;
  expiresAt: number;
}

/** What a member last allowed an app. A new generation ends every token of the one before. */
export interface Grant {
  scope: string;
  generation: number;
}

export interface Token {
  kind: "access" | "refresh";
  clientId: string;
  memberId: string;
  scope: string;
  generation: number;
  issuedAt: number;
  expiresAt: number;
  isRevoked: boolean;
}

export interface Post {
  urn: string;
  memberId: string;
  text: string;
  articleUrl?: string;
  visibility: string;
  createdAt: number;
}

export interface Settings {
  memberDailyLimit: number;
  appDailyLimit: number;
  /** Empty: every https or loopback address counts as registered. */
  redirectUris: string[];
  /** LinkedIn does, and promises nothing: what if it did not? */
  refusesDuplicates: boolean;
}

export interface LinkedIn {
  codes: Collection<Code>;
  grants: Collection<Grant>;
  tokens: Collection<Token>;
  posts: Collection<Post>;
  /** The post that a repetition of the same content would duplicate, by author and content. */
  originals: Collection<{ urn: string; createdAt: number }>;
  /** Calls on the given UTC day, by member and by app. */
  usage: Collection<{ day: string; calls: number }>;
  settings: Collection<Settings>;
  now: () => number;
}

export function stateOf({ collection, now }: Frame): LinkedIn {
  return {
    codes: collection("codes"),
    grants: collection("grants"),
    tokens: collection("tokens"),
    posts: collection("posts"),
    originals: collection("originals"),
    usage: collection("usage"),
    settings: collection("settings"),
    now,
  };
}

export function grantId({ clientId, memberId }: { clientId: string; memberId: string }): string {
  return `${clientId} ${memberId}`;
}

export function scopeSet(names: Iterable<string>): string {
  return [...new Set(names)].sort().join(",");
}

export function hasScope({ scope }: { scope: string }, name: string): boolean {
  return scope.split(",").includes(name);
}

export function statusOf(linkedin: LinkedIn, token: Token): "active" | "expired" | "revoked" {
  const grant = linkedin.grants.get(grantId(token));
  if (token.isRevoked || grant?.generation !== token.generation) return "revoked";
  return linkedin.now() < token.expiresAt ? "active" : "expired";
}
