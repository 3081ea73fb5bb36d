import type { Db } from "../db/index.ts";

/** Forgets posts that needed a file and need it no more: canceled, or with no run left to go. */
export async function releaseMedia(db: Db, mediaId: string): Promise<void> {
  await db.query({
    name: "release_media",
    text: `delete from media_needs n using submissions s
           where n.media_id = $1 and s.id = n.submission_id and s.status in ('dispatched', 'canceled')
             and not exists (select from runs r where r.submission_id = s.id and r.status in ('queued', 'processing'))`,
    values: [mediaId],
  });
}
