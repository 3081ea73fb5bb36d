import { hash, randomBytes } from "node:crypto";
import type { Db } from "../db/index.ts";
import type { Owner } from "./ingest.ts";

export interface Slot {
  token: string;
  expiresAt: Date;
}

const lifeMinutes = 60;

/** An address that takes one upload. Only the hash of its token is kept. */
export async function openSlot(db: Db, { userId, keyId }: Owner): Promise<Slot> {
  const token = randomBytes(32).toString("base64url");
  const { rows } = await db.query<{ expires_at: Date }>({
    name: "open_slot",
    text: `insert into media_uploads (token_hash, user_id, key_hash, expires_at)
           values ($1, $2, $3, now() + $4 * interval '1 minute') returning expires_at`,
    values: [hash("sha256", token), userId, keyId ?? null, lifeMinutes],
  });
  const [row] = rows;
  if (!row) throw new Error("no upload slot was made");
  return { token, expiresAt: row.expires_at };
}

/** Whose slot it is; undefined where it does not exist, has expired or was used. */
export async function findSlot(db: Db, token: string): Promise<Owner | undefined> {
  const { rows } = await db.query<{ user_id: string; key_hash: string | null }>({
    name: "find_slot",
    text: `select user_id, key_hash from media_uploads
           where token_hash = $1 and media_id is null and expires_at > now()`,
    values: [hash("sha256", token)],
  });
  const [row] = rows;
  return row && { userId: row.user_id, ...(row.key_hash === null ? {} : { keyId: row.key_hash }) };
}

/** False: another upload was faster. */
export async function useSlot(db: Db, token: string, mediaId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "use_slot",
    text: "update media_uploads set media_id = $2 where token_hash = $1 and media_id is null",
    values: [hash("sha256", token), mediaId],
  });
  return rowCount === 1;
}

export async function deleteOldSlots(db: Db): Promise<void> {
  await db.query("delete from media_uploads where expires_at < now() - interval '1 day'");
}
