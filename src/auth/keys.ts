import { hash, randomBytes } from "node:crypto";
import type { Db } from "../db/index.ts";
import { AppError } from "../errors.ts";

const prefix = "sk_live_";

export interface ApiKeyRecord {
  id: string;
  name: string | null;
  createdAt: string;
  revokedAt: string | null;
  tokenPreview: string;
}

interface KeyRow {
  id: string;
  user_id: string;
  name: string | null;
  last_four: string;
  created_at: Date;
  revoked_at: Date | null;
}

/** The raw key exists in this answer only: the table holds its hash and last four characters. */
export async function createKey(db: Db, userId: string, name: string | undefined) {
  const raw = prefix + randomBytes(24).toString("base64url");
  const id = hash("sha256", raw);
  await db.query({
    name: "create_key",
    text: "insert into api_keys (id, user_id, name, last_four) values ($1, $2, $3, $4)",
    values: [id, userId, name ?? null, raw.slice(-4)],
  });
  return { raw, id };
}

export async function listKeys(db: Db, userId: string): Promise<ApiKeyRecord[]> {
  const { rows } = await db.query<KeyRow>({
    name: "list_keys",
    text: "select * from api_keys where user_id = $1 order by created_at desc, id",
    values: [userId],
  });
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    createdAt: row.created_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
    tokenPreview: `${prefix}********${row.last_four}`,
  }));
}

/** From the moment this has committed no request with the key is let in. Revoking twice changes nothing. */
export async function revokeKey(db: Db, userId: string, id: string): Promise<void> {
  const { rows } = await db.query<{ user_id: string }>({
    name: "revoke_key",
    text: `with found as (select id, user_id from api_keys where id = $1),
           revoked as (update api_keys k set revoked_at = now() from found f
                       where k.id = f.id and f.user_id = $2 and k.revoked_at is null)
           select user_id from found`,
    values: [id, userId],
  });
  const owner = rows[0]?.user_id;
  if (owner === undefined) throw new AppError("not_found", "There is no such API key");
  if (owner !== userId) throw new AppError("forbidden", "This API key belongs to another user");
}
