import { randomBytes } from "node:crypto";
import type { PlatformAdapter } from "../platforms/index.ts";
import type { ConnectionDeps } from "./deps.ts";
import { authorizeAddress } from "./oauth.ts";
import { providerOf, redirectUriOf } from "./provider.ts";
import type { SignedIn } from "../auth/index.ts";
import { saveState } from "./state-queries.ts";

export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Notes who wants to connect, from which browser, and returns the platform's address to send them to. */
export async function start(
  { db, sealer, urls }: Pick<ConnectionDeps, "db" | "sealer" | "urls">,
  adapter: PlatformAdapter,
  request: { starter: SignedIn; returnTo: string | null; browserHash: string },
): Promise<string> {
  const { starter, returnTo, browserHash } = request;
  const state = newSecret();
  const codeVerifier = adapter.oauth.usesPkce ? newSecret() : null;
  await saveState(db, sealer, state, {
    uid: starter.userId,
    userLabel: starter.label,
    provider: providerOf(adapter.name),
    returnTo,
    browserHash,
    codeVerifier,
    code: null,
  });
  const redirectUri = redirectUriOf(urls.functions, adapter.name);
  return authorizeAddress(adapter.oauth, { redirectUri, state, codeVerifier });
}
