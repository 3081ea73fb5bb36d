import type { BetterAuthOptions } from "better-auth";
import { createAuthMiddleware } from "better-auth/api";
import { jwt } from "better-auth/plugins/jwt";
import type { Logger } from "pino";
import type { Pool } from "../db/index.ts";
import { watchedPool } from "./identity-database.ts";
import {
  accountTable,
  jwksTable,
  sessionTable,
  userTable,
  verificationTable,
} from "./identity-tables.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";

export interface IdentityDeps {
  db: Pool;
  log: Logger;
  secret: string;
  webUrl: string;
}

export const identityPath = "/api/auth";
/** Set by our routes from the connection, never taken from the client. */
export const clientIpHeader = "x-client-ip";

const hour = 60 * 60;
const day = 24 * hour;
const localhost = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** What Better Auth says of a refused caller is no error of ours; what it says of an exception is. */
function logTo(log: Logger): NonNullable<BetterAuthOptions["logger"]> {
  return {
    level: "warn",
    log(level, message, ...rest: unknown[]) {
      const err = rest.find((value) => value instanceof Error);
      log[level === "error" && !err ? "warn" : level]({ err }, message);
    },
  };
}

const hooks = {
  before: createAuthMiddleware(async (context) => {
    if (context.path !== "/change-password") return undefined;
    // Whoever knew the old password may still be signed in with it.
    return { context: { body: { ...context.body, revokeOtherSessions: true } } };
  }),
  after: createAuthMiddleware(async (context) => {
    const { newSession, authCookies, secret, internalAdapter } = context.context;
    if (!newSession) return;
    // Signing in again ends the session that the browser had until now.
    const previous = await context.getSignedCookie(authCookies.sessionToken.name, secret);
    if (previous && previous !== newSession.session.token)
      await internalAdapter.deleteSession(previous);
  }),
};

function idTokens(webUrl: string) {
  return jwt({
    schema: { jwks: jwksTable },
    jwks: {
      keyPairConfig: { alg: "EdDSA", crv: "Ed25519" },
      rotationInterval: 90 * day,
      gracePeriod: day,
    },
    jwt: {
      issuer: webUrl,
      audience: webUrl,
      expirationTime: "15m",
      definePayload: ({ user }) => ({
        email: user.email,
        email_verified: user.emailVerified,
        name: user.name,
      }),
    },
    disableSettingJwtHeader: true,
  });
}

export function identityOptions({ db, log, secret, webUrl }: IdentityDeps) {
  const { origin, protocol, hostname } = new URL(webUrl);
  return {
    appName: "Herald",
    baseURL: origin,
    basePath: identityPath,
    // Given as a list, because a lone `secret` would yield to one found in the environment.
    secrets: [{ version: 1, value: secret }],
    database: watchedPool(db),
    user: userTable,
    account: accountTable,
    verification: verificationTable,
    // The idle limit; migrations/0008_identity.sql sets the absolute one.
    session: { ...sessionTable, expiresIn: 7 * day, updateAge: hour },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: 10,
      maxPasswordLength: 128,
      password: { hash: hashPassword, verify: verifyPassword },
    },
    plugins: [idTokens(webUrl)],
    hooks,
    advanced: {
      // Its own way to secure cookies puts `__Secure-` before the name.
      useSecureCookies: false,
      cookiePrefix: "__session",
      cookies: { session_token: { name: "__session" } },
      defaultCookieAttributes: {
        httpOnly: true,
        sameSite: "lax",
        path: "/",
        secure: protocol === "https:" || !localhost.test(hostname),
      },
      // Named because the default depends on NODE_ENV.
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [clientIpHeader] },
      // The schema is a matter of our migrations. One join instead of two queries for each session.
      database: { validateSchema: false, joins: true },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: logTo(log),
    // What is not meant for the caller is thrown to our own error handler, not printed.
    onAPIError: { throw: true },
  } satisfies BetterAuthOptions;
}
