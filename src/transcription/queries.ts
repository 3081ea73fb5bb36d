import type { Db } from "../db/index.ts";
import type { Segment } from "./transcript.ts";

export interface Transcription {
  id: string;
  userId: string;
  mediaId: string;
  attempt: number;
  status: "processing" | "succeeded" | "failed";
  credits: number;
  language: string | null;
  model: string | null;
  seconds: number | null;
  transcript: string | null;
  segments: Segment[] | null;
  isLikelyLyrics: boolean | null;
  error: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

const columns = `id, user_id as "userId", media_id as "mediaId", attempt, status, credits, language, model, seconds,
  transcript, segments, is_likely_lyrics as "isLikelyLyrics", error, created_at as "createdAt", finished_at as "finishedAt"`;

export interface NewTranscription {
  id: string;
  userId: string;
  mediaId: string;
  credits: number;
  expiresSeconds: number;
}

/** The row, locked until the transaction ends: a new one, or what an earlier call with the same key has left. */
export async function openTranscription(tx: Db, job: NewTranscription): Promise<Transcription> {
  const { rows } = await tx.query<Transcription>({
    name: "open_transcription",
    text: `insert into transcriptions (id, user_id, media_id, credits, expires_at)
           values ($1, $2, $3, $4, now() + $5 * interval '1 second')
           on conflict (id) do update set id = excluded.id
           returning ${columns}`,
    values: [job.id, job.userId, job.mediaId, job.credits, job.expiresSeconds],
  });
  const [row] = rows;
  if (!row) throw new Error(`no transcription was opened for ${job.id}`);
  return row;
}

export async function beginAttempt(
  tx: Db,
  id: string,
  {
    attempt,
    credits,
    expiresSeconds,
  }: Pick<NewTranscription, "credits" | "expiresSeconds"> & { attempt: number },
): Promise<void> {
  await tx.query({
    name: "begin_transcription_attempt",
    text: `update transcriptions set attempt = $2, credits = $3, status = 'processing', error = null, finished_at = null,
             expires_at = now() + $4 * interval '1 second' where id = $1`,
    values: [id, attempt, credits, expiresSeconds],
  });
}

export async function succeed(
  tx: Db,
  id: string,
  result: Required<
    Pick<
      Transcription,
      "credits" | "language" | "model" | "seconds" | "transcript" | "segments" | "isLikelyLyrics"
    >
  >,
): Promise<Transcription> {
  const { rows } = await tx.query<Transcription>({
    name: "succeed_transcription",
    text: `update transcriptions set status = 'succeeded', credits = $2, language = $3, model = $4, seconds = $5,
             transcript = $6, segments = $7, is_likely_lyrics = $8, finished_at = clock_timestamp()
           where id = $1 returning ${columns}`,
    values: [
      id,
      result.credits,
      result.language,
      result.model,
      result.seconds,
      result.transcript,
      JSON.stringify(result.segments),
      result.isLikelyLyrics,
    ],
  });
  const [row] = rows;
  if (!row) throw new Error(`the transcription ${id} is gone`);
  return row;
}

export async function fail(tx: Db, id: string, attempt: number, error: string): Promise<void> {
  await tx.query({
    name: "fail_transcription",
    text: `update transcriptions set status = 'failed', error = $3, finished_at = clock_timestamp()
           where id = $1 and attempt = $2 and status = 'processing'`,
    values: [id, attempt, error],
  });
}

/** Those whose worker must be dead. Their credits come back by themselves. */
export async function failAbandoned(db: Db): Promise<number> {
  const { rowCount } = await db.query({
    name: "fail_abandoned_transcriptions",
    text: `update transcriptions set status = 'failed', error = 'It was cut off', finished_at = clock_timestamp()
           where finished_at is null and expires_at < now()`,
  });
  return rowCount ?? 0;
}

export async function findTranscription(
  db: Db,
  userId: string,
  id: string,
): Promise<Transcription | undefined> {
  const { rows } = await db.query<Transcription>({
    name: "find_transcription",
    text: `select ${columns} from transcriptions where user_id = $1 and id = $2`,
    values: [userId, id],
  });
  return rows[0];
}

/** Newest first, from the one after `after` on. */
export async function listTranscriptions(
  db: Db,
  userId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Transcription[]> {
  const { rows } = await db.query<Transcription>({
    name: "list_transcriptions",
    text: `select ${columns} from transcriptions where user_id = $1
             and ($2::text is null or (created_at, id) < (select created_at, id from transcriptions where user_id = $1 and id = $2))
           order by created_at desc, id desc limit $3`,
    values: [userId, after, limit],
  });
  return rows;
}
