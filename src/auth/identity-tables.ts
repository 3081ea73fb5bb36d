// Better Auth's words for tables and columns, and ours. The tables are made by migrations/0008_identity.sql.
const stamps = { createdAt: "created_at", updatedAt: "updated_at" } as const;

export const userTable = {
  modelName: "identity_users",
  fields: { emailVerified: "email_verified", ...stamps },
} as const;

export const sessionTable = {
  modelName: "identity_sessions",
  fields: {
    userId: "user_id",
    expiresAt: "expires_at",
    ipAddress: "ip_address",
    userAgent: "user_agent",
    ...stamps,
  },
} as const;

export const accountTable = {
  modelName: "identity_accounts",
  fields: {
    userId: "user_id",
    providerId: "provider_id",
    accountId: "account_id",
    accessToken: "access_token",
    refreshToken: "refresh_token",
    idToken: "id_token",
    accessTokenExpiresAt: "access_token_expires_at",
    refreshTokenExpiresAt: "refresh_token_expires_at",
    ...stamps,
  },
} as const;

export const verificationTable = {
  modelName: "identity_verifications",
  fields: { expiresAt: "expires_at", ...stamps },
} as const;

export const jwksTable = {
  modelName: "identity_jwks",
  fields: {
    publicKey: "public_key",
    privateKey: "private_key",
    createdAt: "created_at",
    expiresAt: "expires_at",
  },
} as const;
