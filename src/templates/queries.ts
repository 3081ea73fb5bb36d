import type { Db } from "../db/index.ts";

/** The file that holds the picture of an input, as long as it is there. */
export async function findPicture(
  db: Db,
  userId: string,
  inputHash: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ media_id: string }>({
    name: "find_picture",
    text: "select media_id from template_pictures where user_id = $1 and input_hash = $2",
    values: [userId, inputHash],
  });
  return rows[0]?.media_id;
}

/** Says that a file holds the picture of an input. Returns the one that does: where another was first, that one. */
export async function savePicture(
  db: Db,
  userId: string,
  inputHash: string,
  mediaId: string,
): Promise<string> {
  const { rows } = await db.query<{ media_id: string }>({
    name: "save_picture",
    // The update changes nothing: it makes the row that is there come back, and stay until the end.
    text: `insert into template_pictures as p (user_id, input_hash, media_id) values ($1, $2, $3)
           on conflict (user_id, input_hash) do update set media_id = p.media_id returning media_id`,
    values: [userId, inputHash, mediaId],
  });
  return rows[0]?.media_id ?? mediaId;
}
