// What a platform is to the rest of the service: data, and two to five functions. An adapter reads no configuration,
// keeps no state, retries nothing and sets no timers; it throws `PlatformError` and nothing else.

export const platformNames = [
  "twitter",
  "instagram",
  "facebook",
  "threads",
  "tiktok",
  "youtube",
  "linkedin",
  "snapchat",
] as const;
export type PlatformName = (typeof platformNames)[number];

/** What the platform is certain to refuse, so that it can be refused at the door. */
export interface ContentRules {
  /** Null where the platform takes no text. */
  text: { max: number; unit: "utf16" | "codePoint" | "grapheme" | "byte" } | null;
  /** Which kinds of post there are. A platform without `text` needs media. */
  kinds: readonly ("text" | "image" | "video")[];
  maxImages: number;
}

export interface OAuthSettings {
  authorizeUrl: string;
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scopes: readonly string[];
  scopeSeparator: " " | ",";
  usesPkce: boolean;
  /** How the client proves itself at the token address. */
  clientAuth: "form" | "basic";
}

export interface Profile {
  /** The platform's own id of the person, page or channel. */
  accountId: string;
  displayName: string;
  username: string | null;
  avatarUrl: string | null;
  /** How the platform names the author in a post, where that is more than the id. */
  authorUrn: string | null;
}

export interface OutgoingPost {
  text: string;
}

export interface Published {
  /** Null where the platform accepted the post and did not tell its id. */
  remoteId: string | null;
  url: string | null;
}

/** One HTTP call to the platform: `outbound`, bound to an account's token. Never follows redirects. */
export interface PlatformRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string>;
}

export interface PlatformResponse {
  status: number;
  headers: Record<string, string>;
  /** At most 64 KiB of it. */
  body: string;
}

export interface Call {
  send(request: PlatformRequest): Promise<PlatformResponse>;
  /** Null while the account is being connected and its profile is still to be read. */
  account: { accountId: string; authorUrn: string | null } | null;
}

export interface PlatformAdapter {
  name: PlatformName;
  aliases: readonly string[];
  accepts: ContentRules;
  oauth: OAuthSettings;
  profile(call: Call): Promise<Profile>;
  /** The irreversible call. Throws `unknown` whenever the platform may have taken the post. */
  publish(post: OutgoingPost, call: Call): Promise<Published>;
  /** Where people look at a post; null where its id does not tell. */
  permalink(remoteId: string): string | null;
  /**
   * After a lost answer: is the post there? Null where it certainly is not. Throws `unknown` where it can't tell,
   * `retry` where it can be asked again.
   */
  find?(post: OutgoingPost, call: Call): Promise<Published | null>;
  /**
   * The platform refuses the same content of one author within this time and names the first post, so within it a
   * repeat of an attempt in doubt can't publish twice.
   */
  refusesRepeatsForMs?: number;
}
