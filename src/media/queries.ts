import type { Db } from "../db/index.ts";
import type { Facts } from "./inspect.ts";
import type { Place } from "./storage/storage.ts";

export interface MediaRecord extends Facts, Place {
  id: string;
  userId: string;
  sizeBytes: number;
  checksum: string;
  createdAt: Date;
}

export interface NewMedia extends Omit<MediaRecord, "createdAt"> {
  keyHash: string | null;
  /** Where it was downloaded from. */
  url: string | null;
}

interface MediaRow {
  id: string;
  user_id: string;
  content_type: string;
  extension: string;
  object_path: string;
  download_token: string;
  size_bytes: string;
  checksum: string;
  width: number | null;
  height: number | null;
  duration_ms: string | null;
  created_at: Date;
}

const columns = `id, user_id, content_type, extension, object_path, download_token, size_bytes, checksum, width, height, duration_ms,
  created_at`;

const toRecord = (row: MediaRow): MediaRecord => ({
  id: row.id,
  userId: row.user_id,
  contentType: row.content_type,
  extension: row.extension,
  objectPath: row.object_path,
  downloadToken: row.download_token,
  sizeBytes: Number(row.size_bytes),
  checksum: row.checksum,
  width: row.width,
  height: row.height,
  durationMs: row.duration_ms === null ? null : Number(row.duration_ms),
  createdAt: row.created_at,
});

/** Before the bytes go to the storage, so that a crash leaves a row that tells what to clean up. */
export async function beginMedia(db: Db, media: NewMedia): Promise<void> {
  await db.query({
    name: "begin_media",
    text: `insert into media (id, user_id, key_hash, url, content_type, object_path, download_token, size_bytes, checksum,
             width, height, duration_ms, extension)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      media.id,
      media.userId,
      media.keyHash,
      media.url,
      media.contentType,
      media.objectPath,
      media.downloadToken,
      media.sizeBytes,
      media.checksum,
      media.width,
      media.height,
      media.durationMs,
      media.extension,
    ],
  });
}

/** From here on it exists for others. False: it was cleaned up meanwhile. */
export async function finishMedia(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "finish_media",
    text: "update media set stored_at = clock_timestamp() where id = $1",
    values: [id],
  });
  return rowCount === 1;
}

export async function findMedia(db: Db, id: string): Promise<MediaRecord | undefined> {
  const { rows } = await db.query<MediaRow>({
    name: "find_media",
    text: `select ${columns} from media where id = $1 and stored_at is not null`,
    values: [id],
  });
  return rows[0] && toRecord(rows[0]);
}

/** Those of them that are this user's. */
export async function findOwnMedia(
  db: Db,
  userId: string,
  ids: readonly string[],
): Promise<MediaRecord[]> {
  const { rows } = await db.query<MediaRow>({
    name: "find_own_media",
    text: `select ${columns} from media where id = any($2) and user_id = $1 and stored_at is not null`,
    values: [userId, ids],
  });
  return rows.map(toRecord);
}

/** Newest first, from the one after `after` on. */
export async function listMedia(
  db: Db,
  userId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<MediaRecord[]> {
  const { rows } = await db.query<MediaRow>({
    name: "list_media",
    text: `select ${columns} from media
           where user_id = $1 and stored_at is not null
             and ($3::text is null or (created_at, id) < (select created_at, id from media where id = $3 and user_id = $1))
           order by created_at desc, id desc limit $2`,
    values: [userId, limit, after],
  });
  return rows.map(toRecord);
}

export async function deleteMedia(db: Db, userId: string, id: string): Promise<Place | undefined> {
  const { rows } = await db.query<MediaRow>({
    name: "delete_media",
    text: `delete from media where id = $2 and user_id = $1 and stored_at is not null returning ${columns}`,
    values: [userId, id],
  });
  return rows[0] && toRecord(rows[0]);
}

/** What nobody finished in two hours, taken out of the table. */
export async function deleteUnfinished(db: Db): Promise<Place[]> {
  const { rows } = await db.query<MediaRow>(
    `delete from media where stored_at is null and created_at < now() - interval '2 hours' returning ${columns}`,
  );
  return rows.map(toRecord);
}

/** What could not be stored. */
export async function dropUnfinished(db: Db, id: string): Promise<void> {
  await db.query({
    name: "drop_unfinished",
    text: "delete from media where id = $1 and stored_at is null",
    values: [id],
  });
}
