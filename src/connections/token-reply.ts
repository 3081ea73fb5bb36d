import { z } from "zod";

export interface Tokens {
  accessToken: string;
  refreshToken: string | null;
  scope: string;
  expiresIn: number;
  expiresAt: Date;
  refreshExpiresAt: Date | null;
}

/** The platform gave no tokens. */
export class TokenError extends Error {
  /** True where it said that what was shown to it is worth nothing: asking again does not help. */
  readonly isRefused: boolean;

  constructor(message: string, facts: { isRefused?: boolean; cause?: unknown } = {}) {
    super(message, { cause: facts.cause });
    this.name = "TokenError";
    this.isRefused = facts.isRefused ?? false;
  }
}

/** What a reply that leaves something out stands for. */
export interface Assumed {
  /** Before the request was sent, so that no token is thought to live longer than it does. */
  askedAt: Date;
  scope: string;
  refreshToken?: string | null;
  refreshExpiresAt?: Date | null;
}

// It goes into a header, so nothing but visible ASCII.
const token = z.string().regex(/^[\x21-\x7e]{1,4096}$/);
const seconds = z
  .number()
  .min(1)
  .max(10 * 365 * 86_400)
  .transform(Math.floor);

const tokenReply = z.object({
  access_token: token,
  // RFC 6749 requires it, and not every platform sends it.
  token_type: z
    .string()
    .regex(/^bearer$/i)
    .optional(),
  expires_in: seconds,
  refresh_token: token.nullish(),
  // RFC 6749 has no name for it; these two are in use.
  refresh_token_expires_in: seconds.nullish(),
  refresh_expires_in: seconds.nullish(),
  scope: z
    .string()
    .regex(/^[\x20-\x7e]{0,4096}$/)
    .nullish(),
});

// Our requests are well-formed, so `invalid_request` speaks of the token too: LinkedIn and X say it of a dead one.
const refusals = /"error"\s*:\s*"(?:invalid_grant|invalid_request)"/;

/** Whether an answer, as far as it was read, says that the code or token is worth nothing. */
export function isRefusal(body: string): boolean {
  return refusals.test(body);
}

export function readTokens(body: unknown, assumed: Assumed): Tokens {
  const parsed = tokenReply.safeParse(body);
  if (!parsed.success) {
    // Some platforms answer 200 with an error inside.
    const isRefused = isRefusal(JSON.stringify(body));
    const fields = parsed.error.issues.map((issue) => issue.path.join(".") || "all of it");
    throw new TokenError(`the token reply is not usable: ${fields.join(", ")}`, { isRefused });
  }
  const reply = parsed.data;
  const after = (lifetime: number): Date => new Date(assumed.askedAt.getTime() + lifetime * 1_000);
  const refreshLifetime = reply.refresh_token_expires_in ?? reply.refresh_expires_in;
  const keptUntil = reply.refresh_token ? null : (assumed.refreshExpiresAt ?? null);
  return {
    accessToken: reply.access_token,
    refreshToken: reply.refresh_token ?? assumed.refreshToken ?? null,
    scope: reply.scope ?? assumed.scope,
    expiresIn: reply.expires_in,
    expiresAt: after(reply.expires_in),
    refreshExpiresAt: refreshLifetime ? after(refreshLifetime) : keptUntil,
  };
}
