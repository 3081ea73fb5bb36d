// The platforms: what each takes, how its accounts are connected and read, and the one call that publishes.
// It keeps no tokens, repeats nothing and knows neither users nor runs.
export { platformNames } from "./adapter.ts";
export type {
  Call,
  ContentRules,
  OAuthSettings,
  OutgoingPost,
  PlatformAdapter,
  PlatformName,
  Profile,
  Published,
} from "./adapter.ts";
export { bindCall } from "./bind-call.ts";
export { PlatformError } from "./platform-error.ts";
export type { PlatformErrorKind } from "./platform-error.ts";
export { createRegistry } from "./registry.ts";
export type { PlatformSettings, Registry } from "./registry.ts";
