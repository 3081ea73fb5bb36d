import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { debit, hold, keepHold, releaseHold } from "../billing/index.ts";
import { inTransaction } from "../db/index.ts";
import type { Pool, Transaction } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { ObjectMissing, findOwnMedia, receive } from "../media/index.ts";
import type { MediaRecord, Storage } from "../media/index.ts";
import { probe } from "./decode.ts";
import { SpeechBusy, SpeechFailed } from "./failures.ts";
import { AudioUnreadable } from "./ffmpeg.ts";
import { likelyLyrics } from "./lyrics.ts";
import { beginAttempt, fail, openTranscription, succeed } from "./queries.ts";
import type { Transcription } from "./queries.ts";
import type { Heard, Speech } from "./speech.ts";

export interface TranscribeDeps {
  db: Pool;
  log: Logger;
  storage: Storage;
  speech: Speech;
  limits: { incomingDir: string };
}

export interface TranscribeInput {
  /** The same for every repeat of one request. */
  jobId: string;
  userId: string;
  mediaId: string;
  language?: string | undefined;
  model?: string | undefined;
  durationSeconds?: number | undefined;
}

const hearable = /^(?:audio|video)\//;
const maxTranscriptLength = 2_000_000;

export const creditsFor = (seconds: number): number => Math.max(1, Math.ceil(seconds / 60));

/** How long the work may last. Credits that are held longer are given back. */
const patienceSeconds = (seconds: number): number => Math.ceil(600 + 2 * seconds);

async function mediaOf(db: Pool, { userId, mediaId }: TranscribeInput): Promise<MediaRecord> {
  const [media] = await findOwnMedia(db, userId, [mediaId]);
  if (!media) throw new AppError("MEDIA_NOT_FOUND", "There is no such media");
  if (!media.objectPath || !media.downloadToken || !media.contentType)
    throw new AppError("MEDIA_INVALID", "The media record lacks what is needed to read the file");
  if (!hearable.test(media.contentType))
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", `${media.contentType} is neither audio nor video`);
  return media;
}

const keyOf = ({ id, attempt }: Pick<Transcription, "id" | "attempt">): string =>
  `transcription:${id}:${attempt}`;

/** The job with its credits held, or as an earlier call with the same key has finished it. */
async function begin(
  tx: Transaction,
  { jobId, userId, mediaId }: TranscribeInput,
  seconds: number,
): Promise<Transcription> {
  const credits = creditsFor(seconds);
  const expiresSeconds = patienceSeconds(seconds) + 60;
  const job = await openTranscription(tx, { id: jobId, userId, mediaId, credits, expiresSeconds });
  if (job.status === "succeeded") return job;
  const change = {
    userId,
    amount: credits,
    reference: { transcription: jobId, mediaId },
    expiresSeconds,
  };
  if (job.status === "processing") {
    const { state } = await hold(tx, { ...change, key: keyOf(job) });
    if (state === "open") return job;
  }
  const attempt = job.attempt + 1;
  await beginAttempt(tx, jobId, { attempt, credits, expiresSeconds });
  await hold(tx, { ...change, key: keyOf({ id: jobId, attempt }) });
  return { ...job, attempt, credits, status: "processing" };
}

/** Longer than it was said to be: the rest is charged too. */
async function settle(tx: Transaction, job: Transcription, heard: Heard): Promise<number> {
  if (!(await keepHold(tx, keyOf(job))))
    throw new AppError("service_unavailable", "It took too long; nothing was charged");
  const owed = creditsFor(heard.seconds) - job.credits;
  if (owed <= 0) return job.credits;
  const { id, userId, mediaId } = job;
  const reference = { transcription: id, mediaId };
  await debit(tx, { userId, amount: owed, key: `${keyOf(job)}:rest`, reference });
  return job.credits + owed;
}

async function finish(tx: Transaction, job: Transcription, heard: Heard): Promise<Transcription> {
  return await succeed(tx, job.id, {
    credits: await settle(tx, job, heard),
    language: heard.language,
    model: heard.model,
    seconds: heard.seconds,
    transcript: heard.text.slice(0, maxTranscriptLength),
    segments: heard.segments,
    isLikelyLyrics: likelyLyrics(heard, heard.hints),
  });
}

function answerable(error: unknown): unknown {
  if (error instanceof ObjectMissing)
    return new AppError("MEDIA_INVALID", "The file is not there any more", { cause: error });
  if (error instanceof AudioUnreadable)
    return new AppError("MEDIA_INVALID", error.message, { cause: error });
  if (error instanceof SpeechBusy) {
    const { message, retryAfterSeconds } = error;
    return new AppError("service_unavailable", message, { cause: error, retryAfterSeconds });
  }
  if (error instanceof SpeechFailed)
    return new AppError("upstream_error", error.message, { cause: error });
  return error;
}

/** Speech to text, paid once: held before the work, kept with the result, given back where there is none. */
export async function transcribe(
  deps: TranscribeDeps,
  input: TranscribeInput,
): Promise<Transcription> {
  const { db, storage, speech, limits, log } = deps;
  const media = await mediaOf(db, input);
  const path = join(limits.incomingDir, `${randomUUID()}.${media.extension}`);
  const bring = async (): Promise<unknown> =>
    await receive(await storage.open(media), path, media.sizeBytes);
  try {
    const { durationMs } = media;
    if (durationMs === null) await bring();
    const measured = durationMs === null ? (await probe(path)).seconds : durationMs / 1_000;
    const seconds = Math.max(input.durationSeconds ?? 0, measured);
    const job = await inTransaction(db, async (tx) => await begin(tx, input, seconds));
    if (job.status === "succeeded") return job;
    try {
      if (durationMs !== null) await bring();
      const { language, model } = input;
      const { contentType, extension } = media;
      const signal = AbortSignal.timeout(patienceSeconds(seconds) * 1_000);
      const asked = { path, contentType, extension, seconds: measured, language, model, signal };
      const heard = await speech.transcribe(asked);
      return await inTransaction(db, async (tx) => await finish(tx, job, heard));
    } catch (error) {
      log.warn({ err: error, jobId: job.id, mediaId: media.id }, "a transcription failed");
      const told = answerable(error);
      const reason = told instanceof AppError ? told.message : "It failed";
      await inTransaction(db, async (tx) => {
        await releaseHold(tx, keyOf(job));
        await fail(tx, job.id, job.attempt, reason);
      });
      throw told;
    }
  } catch (error) {
    throw answerable(error);
  } finally {
    await rm(path, { force: true });
  }
}
