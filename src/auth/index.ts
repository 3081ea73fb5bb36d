// Who is calling: API keys and their routes, the built-in identity provider, and ID tokens of any trusted issuer.
// What a caller may use is not decided here: see `billing` and `limits`.
export { createTokenVerifier } from "./id-token.ts";
export type { TokenVerifier } from "./id-token.ts";
export { createIdentity } from "./identity.ts";
export type { Identity } from "./identity.ts";
export { deleteExpiredSessions } from "./identity-queries.ts";
export { identityRoutes } from "./identity-routes.ts";
export { createKey } from "./keys.ts";
export { keyRoutes, meRoute } from "./routes.ts";
export { requireSignedIn } from "./signed-in.ts";
export type { SignedIn } from "./signed-in.ts";
