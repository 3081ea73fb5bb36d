/** A registered application: what it may ask members for. */
export interface App {
  clientId: string;
  clientSecret: string;
  name: string;
  scopes: ReadonlySet<string>;
  /** Only approved partners get refresh tokens. */
  hasRefreshTokens: boolean;
}

/** "Sign In with LinkedIn using OpenID Connect" and "Share on LinkedIn": any app may add them. */
const selfServe = ["openid", "profile", "email", "w_member_social"];
/** The vetted Community Management product. `r_member_social` is closed: no app has it. */
const vetted = [
  ...selfServe,
  "r_basicprofile",
  "r_organization_admin",
  "r_organization_social",
  "r_organization_social_feed",
  "rw_organization_admin",
  "w_member_social_feed",
  "w_organization_social",
  "w_organization_social_feed",
];

export const apps: readonly App[] = [
  registered("sandbox-linkedin", { scopes: vetted, hasRefreshTokens: false }),
  registered("sandbox-linkedin-partner", { scopes: vetted, hasRefreshTokens: true }),
  registered("sandbox-linkedin-self-serve", { scopes: selfServe, hasRefreshTokens: false }),
];

function registered(
  clientId: string,
  { scopes, hasRefreshTokens }: { scopes: string[]; hasRefreshTokens: boolean },
): App {
  return {
    clientId,
    clientSecret: `${clientId}-secret`,
    name: "Herald",
    scopes: new Set(scopes),
    hasRefreshTokens,
  };
}

export function appOf(clientId: string): App | undefined {
  return apps.find((app) => app.clientId === clientId);
}
