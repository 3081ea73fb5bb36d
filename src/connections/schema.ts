import { z } from "zod";

const timestamp = z.iso.datetime();

export const startQuery = z.object({
  returnTo: z
    .string()
    .max(2_048)
    .optional()
    .describe("Where to go afterwards: a path of the web app, or an address on an allowed origin"),
});
export const startAnswer = z
  .object({ url: z.string() })
  .describe("For `Accept: application/json`: the platform's address to send the user to");

// Platforms add parameters of their own; those are left alone.
export const callbackQuery = z.object({
  state: z.string().max(200).optional(),
  code: z.string().min(1).max(4_096).optional(),
  error: z.string().max(200).optional(),
});

export const confirmBody = z.object({
  token: z.string().max(200),
  answer: z.enum(["yes", "no"]),
});

export const account = z.object({
  platform: z.string(),
  accountId: z.string().describe("The platform's own id of the account"),
  tokenType: z.literal("bearer"),
  scope: z.string(),
  expiresIn: z.number().describe("Seconds, counted from when the token was given"),
  expiresAt: timestamp,
  updatedAt: timestamp,
  profile: z.object({
    platformId: z.string(),
    displayName: z.string(),
    username: z.string().nullable(),
    avatarUrl: z.string().nullable(),
  }),
  authorUrn: z.string().nullable().describe("How the platform names the author of a post"),
  enabled_for_repost: z.boolean(),
  status: z
    .enum(["active", "needs_reconnect"])
    .describe("`needs_reconnect`: nothing can be published until the user connects it again"),
});
export type AccountAnswer = z.infer<typeof account>;

export const listAccountsAnswer = z.object({ accounts: z.array(account) });
export const accountParams = z.object({
  platform: z.string().min(1).max(40).describe("The platform, by any of its names"),
  accountId: z.string().regex(/^[\x21-\x7e]{1,200}$/),
});
export const changeAccountBody = z.strictObject({ enabled_for_repost: z.boolean() });
export const disconnectAnswer = z.object({ disconnected: z.literal(true) });
