import { z } from "zod";
import { PlatformError, bindCall } from "../platforms/index.ts";
import type { PlatformAdapter, Profile } from "../platforms/index.ts";
import type { ConnectionDeps } from "./deps.ts";
import { exchangeCode } from "./oauth.ts";
import { redirectUriOf } from "./provider.ts";
import type { Connection } from "./queries.ts";
import { TokenError } from "./token-reply.ts";
import type { Tokens } from "./token-reply.ts";

/** Everything that a user can be told went wrong; what the platform said is for the log. */
export const failures = {
  access_denied: "You did not allow the connection.",
  platform_error: "The platform did not answer as expected.",
  token_exchange_failed: "The platform did not confirm the connection.",
  profile_failed: "The platform did not tell which account this is.",
} as const;
export type Failure = keyof typeof failures;

const shown = (text: string): string => text.toWellFormed().replaceAll("\0", "").slice(0, 200);

// A profile is what the platform says, within what can be stored and shown.
const profileShape = z.object({
  accountId: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  displayName: z.string().transform(shown),
  username: z.string().transform(shown).nullable(),
  avatarUrl: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .nullable()
    .catch(null),
  authorUrn: z
    .string()
    .regex(/^[\x21-\x7e]{1,300}$/)
    .nullable(),
});

const timeoutMs = 10_000;

type ConnectDeps = Pick<ConnectionDeps, "clock" | "log" | "outbound" | "urls">;

export interface Grant {
  userId: string;
  code: string;
  codeVerifier: string | null;
}

async function readProfile(
  { outbound }: ConnectDeps,
  adapter: PlatformAdapter,
  { accessToken }: Tokens,
): Promise<Profile> {
  const call = bindCall(outbound, { accessToken, account: null, timeoutMs });
  const profile = await adapter.profile(call);
  const parsed = profileShape.safeParse(profile);
  if (parsed.success) return parsed.data;
  throw new PlatformError("rejected", "the profile is not usable", { cause: parsed.error });
}

/**
 * Turns the platform's code into tokens and a profile, or says why not. Nothing is stored here, so nothing is half
 * stored: the caller saves the connection whole. Several users may connect the same platform account; each has tokens
 * of their own, and what one does with theirs does not concern the others.
 */
export async function connect(
  deps: ConnectDeps,
  adapter: PlatformAdapter,
  { userId, code, codeVerifier }: Grant,
): Promise<Connection | { failure: Failure }> {
  const { clock, log, outbound, urls } = deps;
  const platform = adapter.name;
  const failed = (failure: Failure, error: Error): { failure: Failure } => {
    log.warn({ err: error, platform, userId, failure }, "an account was not connected");
    return { failure };
  };
  try {
    const redirectUri = redirectUriOf(urls.functions, platform);
    const grant = { code, redirectUri, codeVerifier };
    const tokens = await exchangeCode(outbound.fetchJson, adapter.oauth, grant, clock.now());
    return { userId, platform, tokens, profile: await readProfile(deps, adapter, tokens) };
  } catch (error) {
    if (error instanceof TokenError) return failed("token_exchange_failed", error);
    if (error instanceof PlatformError) return failed("profile_failed", error);
    throw error;
  }
}
