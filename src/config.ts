import { join } from "node:path";
import { z } from "zod";

// Every setting of the service, with its default. Nothing else in `src` reads the environment, and no host of an
// outside service is written anywhere but here.

const whole = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const address = z.url({ protocol: /^https?$/ });
const addressOr = (fallback: string) => address.default(fallback);
const list = z
  .string()
  .default("")
  .transform((text) => text.split(",").flatMap((entry) => entry.trim() || []));
const issuerPair = list.transform((pairs, context) =>
  pairs.flatMap((pair) => {
    const [issuer = "", audience = ""] = pair.split("|");
    if (address.safeParse(issuer).success && audience) return { issuer, audience };
    context.addIssue({
      code: "custom",
      message: `"${pair}" is not an issuer address, "|", an audience`,
    });
    return [];
  }),
);

const keyRing = list.transform((entries, context) =>
  entries.flatMap((entry) => {
    const [id = "", secret = ""] = entry.split(":");
    const key = Buffer.from(secret, "base64url");
    if (/^[a-z0-9]{1,16}$/.test(id) && key.length === 32) return { id, key };
    context.addIssue({
      code: "custom",
      message: "each entry is an id, ':', 32 bytes as base64url",
    });
    return [];
  }),
);

export const environment = z.object({
  NODE_ENV: z.string().default("production"),
  PORT: port(3000),
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  HOST: z.string().default("0.0.0.0"),
  BASE_URL: address.optional(),
  FUNCTIONS_URL: address.optional(),
  WEB_URL: address.optional(),
  TRUST_PROXY: list,
  SHUTDOWN_DRAIN_MS: whole(500),
  LOG_LEVEL: z.enum(["silent", "fatal", "error", "warn", "info", "debug", "trace"]).default("info"),
  METRICS_PORT: port(0),
  DATA_DIR: z.string().min(1).default("./data"),
  DATABASE_URL: z.string().min(1),
  MIGRATE_DATABASE_URL: z.string().min(1).optional(),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(1_000).default(20),
  WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(10),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  TOKEN_KEYS: keyRing.refine((ring) => ring.length > 0, "at least one key is needed"),
  AUTH_SECRET: z.string().min(32),
  OIDC_ISSUERS: issuerPair,
  ADMIN_USERS: list,
  RETURN_TO_ORIGINS: list.pipe(z.array(address)),
  NETWORK_AUTH_URL: addressOr("https://www.linkedin.com/oauth/v2/authorization"),
  NETWORK_TOKEN_URL: addressOr("https://www.linkedin.com/oauth/v2/accessToken"),
  NETWORK_USERINFO_URL: addressOr("https://api.linkedin.com/v2/userinfo"),
  NETWORK_PROFILE_URL: addressOr("https://api.linkedin.com/v2/me"),
  NETWORK_UGC_URL: addressOr("https://api.linkedin.com/v2/ugcPosts"),
  NETWORK_WEB_URL: addressOr("https://www.linkedin.com"),
  NETWORK_REFUSES_REPEATS_SECONDS: whole(480),
  NETWORK_CLIENT_ID: z.string().default(""),
  NETWORK_CLIENT_SECRET: z.string().default(""),
  MEDIA_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
    .default("herald-media"),
  MEDIA_MAX_BYTES: z.coerce.number().int().min(1).default(1_073_741_824),
  MEDIA_DOWNLOAD_SECONDS: z.coerce.number().int().min(1).max(3_600).default(300),
  MEDIA_ALLOW_PRIVATE: list.pipe(
    z.array(z.string().regex(/^[a-z0-9.-]+:\d+$/i, "must be host:port")),
  ),
  MEDIA_DELIVERY: z.enum(["stream", "redirect", "accel"]).default("stream"),
  S3_REGION: z.string().optional(),
  S3_ENDPOINT: z.url().optional(),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  STRIPE_SECRET_KEY: z.string().default(""),
  STRIPE_API_URL: addressOr("https://api.stripe.com"),
  WEBHOOK_SIGNING_SECRET: list,
  CREDITS_ROLLOVER: z.stringbool().default(false),
  FUNCTIONS_KEYS: list,
  SPEECH_API_URL: address.optional(),
  SPEECH_API_KEY: z.string().default(""),
  SPEECH_MODEL: z.string().default("whisper-1"),
  WORKFLOW_URL: address.optional(),
  WORKFLOW_TLS_VERIFY: z.stringbool().default(false),
  RATE_LIMIT_DEFAULT_MAX: whole(25),
  RATE_LIMIT_DEFAULT_BURST: whole(10),
  RATE_LIMIT_DEFAULT_WINDOW: whole(60_000),
  RATE_LIMIT_AUTH_MAX: whole(60),
  RATE_LIMIT_AUTH_BURST: whole(30),
  RATE_LIMIT_AUTH_WINDOW: whole(60_000),
  RATE_LIMIT_PREMIUM_MAX: whole(100),
  RATE_LIMIT_PREMIUM_BURST: whole(100),
  RATE_LIMIT_PREMIUM_WINDOW: whole(60_000),
  RATE_LIMIT_ADMIN_MAX: whole(200),
  RATE_LIMIT_ADMIN_BURST: whole(500),
  RATE_LIMIT_ADMIN_WINDOW: whole(60_000),
  RATE_LIMIT_WHITELIST: list,
  RATE_LIMIT_ON_FAILURE: z.enum(["open", "closed"]).default("open"),
  RATE_LIMIT_FUNCTIONS_MAX: whole(600),
  RATE_LIMIT_MEDIA_MAX: whole(1_200),
  RATE_LIMIT_SIGN_IN_MAX: whole(20),
});

export type Config = ReturnType<typeof loadConfig>;

/** Reads all settings at once; every fault is named, so that one restart is enough to mend them. */
export function loadConfig(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `  ${issue.path.join(".")}: ${issue.message}`,
    );
    throw new Error(`The configuration is not usable:\n${faults.join("\n")}`);
  }
  const settings = parsed.data;
  const root = new URL(settings.BASE_URL ?? `http://localhost:${settings.PORT}`).href.replace(
    /\/$/,
    "",
  );
  const tier = (name: "DEFAULT" | "AUTH" | "PREMIUM" | "ADMIN") => ({
    capacity: settings[`RATE_LIMIT_${name}_MAX`] + settings[`RATE_LIMIT_${name}_BURST`],
    windowMs: settings[`RATE_LIMIT_${name}_WINDOW`],
  });
  return Object.freeze({
    isDevelopment: settings.NODE_ENV === "development",
    dataDir: settings.DATA_DIR,
    server: {
      port: settings.PORT,
      host: settings.HOST,
      trustProxy: settings.TRUST_PROXY,
      drainMs: settings.SHUTDOWN_DRAIN_MS,
    },
    urls: {
      base: root,
      functions: settings.FUNCTIONS_URL?.replace(/\/$/, "") ?? `${root}/functions`,
      web: settings.WEB_URL?.replace(/\/$/, "") ?? root,
    },
    sandbox: { port: settings.SANDBOX_PORT ?? settings.PORT + 1 },
    log: { level: settings.LOG_LEVEL },
    metrics: { port: settings.METRICS_PORT },
    database: {
      url: settings.DATABASE_URL,
      migrateUrl: settings.MIGRATE_DATABASE_URL ?? settings.DATABASE_URL,
      poolSize: settings.DATABASE_POOL_SIZE,
    },
    jobs: { concurrency: settings.WORKER_CONCURRENCY },
    outbound: { allowedPlaces: new Set(settings.MEDIA_ALLOW_PRIVATE) },
    secrets: { ring: settings.TOKEN_KEYS },
    auth: {
      secret: settings.AUTH_SECRET,
      outsideIssuers: settings.OIDC_ISSUERS,
      adminUsers: new Set(settings.ADMIN_USERS),
      functionKeys: settings.FUNCTIONS_KEYS,
    },
    media: {
      bucket: settings.MEDIA_BUCKET,
      dir: join(settings.DATA_DIR, "media", settings.MEDIA_BUCKET),
      incomingDir: join(settings.DATA_DIR, "media", "incoming"),
      maxBytes: settings.MEDIA_MAX_BYTES,
      downloadSeconds: settings.MEDIA_DOWNLOAD_SECONDS,
      delivery: settings.MEDIA_DELIVERY,
      s3:
        settings.S3_REGION || settings.S3_ENDPOINT
          ? {
              region: settings.S3_REGION ?? "us-east-1",
              endpoint: settings.S3_ENDPOINT,
              accessKeyId: settings.S3_ACCESS_KEY_ID,
              secretAccessKey: settings.S3_SECRET_ACCESS_KEY,
              // Servers other than AWS seldom have a host name per bucket.
              forcePathStyle: settings.S3_ENDPOINT !== undefined,
            }
          : null,
    },
    billing: {
      stripe: settings.STRIPE_SECRET_KEY
        ? { secretKey: settings.STRIPE_SECRET_KEY, apiUrl: settings.STRIPE_API_URL }
        : null,
      webhookSecrets: settings.WEBHOOK_SIGNING_SECRET,
      rollsOver: settings.CREDITS_ROLLOVER,
    },
    transcription: {
      cacheDir: join(settings.DATA_DIR, "speech"),
      remote:
        settings.SPEECH_API_URL === undefined
          ? null
          : {
              url: settings.SPEECH_API_URL,
              apiKey: settings.SPEECH_API_KEY,
              model: settings.SPEECH_MODEL,
            },
    },
    business: {
      workflow:
        settings.WORKFLOW_URL === undefined
          ? null
          : { url: settings.WORKFLOW_URL, verifiesCertificate: settings.WORKFLOW_TLS_VERIFY },
    },
    connections: { returnToOrigins: settings.RETURN_TO_ORIGINS },
    platforms: {
      linkedin: {
        authUrl: settings.NETWORK_AUTH_URL,
        tokenUrl: settings.NETWORK_TOKEN_URL,
        userinfoUrl: settings.NETWORK_USERINFO_URL,
        profileUrl: settings.NETWORK_PROFILE_URL,
        ugcUrl: settings.NETWORK_UGC_URL,
        webUrl: settings.NETWORK_WEB_URL,
        clientId: settings.NETWORK_CLIENT_ID,
        clientSecret: settings.NETWORK_CLIENT_SECRET,
        refusesRepeatsForMs: settings.NETWORK_REFUSES_REPEATS_SECONDS * 1_000,
      },
    },
    limits: {
      redisUrl: settings.REDIS_URL,
      tiers: [tier("DEFAULT"), tier("AUTH"), tier("PREMIUM"), tier("ADMIN")],
      whitelist: settings.RATE_LIMIT_WHITELIST,
      onFailure: settings.RATE_LIMIT_ON_FAILURE,
      functionsPerMinute: settings.RATE_LIMIT_FUNCTIONS_MAX,
      mediaPerMinute: settings.RATE_LIMIT_MEDIA_MAX,
      signInPerMinute: settings.RATE_LIMIT_SIGN_IN_MAX,
    },
  });
}
