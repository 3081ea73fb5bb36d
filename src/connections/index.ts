// Accounts on the platforms: connecting them (OAuth), the connected accounts and their routes, and tokens that are good
// now. It publishes nothing, and a token leaves this room only inside a `Call`.
export { accountRoutes } from "./account-routes.ts";
export { openAccount } from "./open-account.ts";
export type { OpenedAccount } from "./open-account.ts";
export { accountsOf, saveAuthorUrn } from "./queries.ts";
export type { AccountKey, KnownAccount } from "./queries.ts";
export { countOldSeals, rotateTokensTask } from "./rotate-tokens.ts";
export { connectionRoutes } from "./routes.ts";
export { deleteExpiredStates } from "./state-queries.ts";
export { markNeedsReconnect } from "./token-queries.ts";
