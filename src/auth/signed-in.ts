import type { FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import type { Identity } from "./identity.ts";
import type { TokenVerifier } from "./id-token.ts";

/** Who is there, and how to name them to a person. */
export interface SignedIn {
  userId: string;
  label: string;
}

const bearer = /^Bearer (\S+)$/i;

function signedIn(user: { userId: string; email?: string; name?: string }): SignedIn {
  return { userId: user.userId, label: user.email ?? user.name ?? user.userId };
}

/** By ID token where one is shown, else by the browser's session. */
export async function requireSignedIn(
  { identity, idTokens }: { identity: Pick<Identity, "readSession">; idTokens: TokenVerifier },
  { headers }: FastifyRequest,
): Promise<SignedIn> {
  if (headers.authorization === undefined) {
    const user = await identity.readSession(headers);
    if (user) return signedIn(user);
    throw new AppError("unauthorized", "Sign in, or send an ID token");
  }
  const token = bearer.exec(headers.authorization)?.[1];
  const proven = token === undefined ? null : await idTokens.verify(token);
  if (proven && "userId" in proven) return signedIn(proven);
  if (proven?.refused === "keys_unavailable") {
    throw new AppError("service_unavailable", "The ID token can't be checked now", {
      retryAfterSeconds: 5,
    });
  }
  throw new AppError("unauthorized", "Missing or invalid ID token");
}
