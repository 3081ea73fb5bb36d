import type { JSONWebKeySet, JWK } from "jose";
import type { Db } from "../db/index.ts";

/** The keys that ID tokens may be signed with. One past its time is kept for a day, longer than any token lives. */
export async function readPublicKeys(db: Db): Promise<JSONWebKeySet> {
  const { rows } = await db.query<{ id: string; public_key: string; alg: string | null }>(
    "select id, public_key, alg from identity_jwks where expires_at is null or expires_at > now() - interval '1 day'",
  );
  return {
    keys: rows.map((row) => ({
      ...(JSON.parse(row.public_key) as JWK),
      kid: row.id,
      alg: row.alg ?? "EdDSA",
    })),
  };
}

export async function findUserId(db: Db, email: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    "select id from identity_users where email = lower($1)",
    [email],
  );
  return rows[0]?.id ?? null;
}

export async function deleteExpiredSessions(db: Db): Promise<void> {
  await db.query("delete from identity_sessions where expires_at < now()");
}
