import type { IncomingHttpHeaders } from "node:http";
import { betterAuth } from "better-auth";
import { failingWithTheDatabase } from "./identity-database.ts";
import { identityOptions, identityPath } from "./identity-options.ts";
import type { IdentityDeps } from "./identity-options.ts";
import { findUserId, readPublicKeys } from "./identity-queries.ts";
import type { BuiltInIssuer } from "./issuers.ts";

export interface SignedInUser {
  userId: string;
  email: string;
  name: string;
}

export interface NewUser {
  email: string;
  password: string;
  name: string;
}

/** The built-in identity provider: users with an address and a password, their sessions, their ID tokens. */
export interface Identity {
  /** Better Auth's answer to a request for one of its paths, such as `/sign-in/email`. */
  handle(path: string, request: RequestInit): Promise<Response>;
  /** Who the `__session` cookie belongs to. Does not prolong the session: GET get-session and GET token do. */
  readSession(headers: IncomingHttpHeaders): Promise<SignedInUser | null>;
  /** The id of the user with this address, who is created if there is none; an existing one is left as is. */
  createUser(user: NewUser): Promise<string>;
  /** For the verifier of ID tokens: the keys come from the database, not by a call to ourselves. */
  issuer: BuiltInIssuer;
}

export function createIdentity(deps: IdentityDeps): Identity {
  const { db, webUrl } = deps;
  const root = new URL(identityPath, webUrl).href;
  const auth = betterAuth(identityOptions(deps));

  async function signUp(user: NewUser): Promise<string> {
    const { user: created, token } = await auth.api.signUpEmail({ body: user });
    // Nobody is there to use the session that comes with a sign-up.
    if (token) await (await auth.$context).internalAdapter.deleteSession(token);
    return created.id;
  }

  return {
    handle: (path, request) =>
      failingWithTheDatabase(() => auth.handler(new Request(root + path, request))),

    async readSession({ cookie }) {
      if (cookie === undefined) return null;
      const found = await failingWithTheDatabase(() =>
        auth.api.getSession({ headers: new Headers({ cookie }), query: { disableRefresh: true } }),
      );
      return found && { userId: found.user.id, email: found.user.email, name: found.user.name };
    },

    async createUser(user) {
      const existing = await findUserId(db, user.email);
      if (existing !== null) return existing;
      try {
        return await failingWithTheDatabase(() => signUp(user));
      } catch (error) {
        const madeMeanwhile = await findUserId(db, user.email);
        if (madeMeanwhile === null) throw error;
        return madeMeanwhile;
      }
    },

    issuer: { issuer: webUrl, audience: webUrl, loadKeys: () => readPublicKeys(db) },
  };
}
