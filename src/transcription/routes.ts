import { hash } from "node:crypto";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { answerOnceLeased, bodyTextOf, callerOf, idempotencyKeyOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import type { Sealer } from "../sealing.ts";
import { findTranscription, listTranscriptions } from "./queries.ts";
import type { Transcription } from "./queries.ts";
import * as shapes from "./schema.ts";
import { toSrt, toVtt } from "./subtitles.ts";
import { transcribe } from "./transcribe.ts";
import type { TranscribeDeps } from "./transcribe.ts";

export interface TranscriptionDeps extends TranscribeDeps {
  sealer: Sealer;
}

const tags = ["AI"];
const config = { credential: "apiKey" } as const;

const subtitles = {
  srt: { type: "application/x-subrip; charset=utf-8", write: toSrt },
  vtt: { type: "text/vtt; charset=utf-8", write: toVtt },
} as const;

/** A repeat of a request finds the job that the first one began. */
const jobIdOf = (request: FastifyRequest, userId: string): string =>
  hash("sha256", `${userId}\0${idempotencyKeyOf(request)}\0${bodyTextOf(request)}`).slice(0, 32);

const toSummary = (job: Transcription) => ({
  jobId: job.id,
  status: job.status,
  mediaId: job.mediaId,
  language: job.language,
  model: job.model,
  durationSeconds: job.seconds,
  creditsDebited: job.status === "succeeded" ? job.credits : 0,
  likelyLyrics: job.isLikelyLyrics,
  error: job.error,
  createdAt: job.createdAt.toISOString(),
  finishedAt: job.finishedAt?.toISOString() ?? null,
});

/** What the engine can't do is refused at the door. */
function checkOffer(
  { models, languages }: TranscribeDeps["speech"],
  { model, language }: { model?: string | undefined; language?: string | undefined },
): void {
  const refuse = (field: string, offered: readonly string[]): never => {
    const detail = { field, message: `must be one of ${offered.join(", ")}`, code: "not_offered" };
    throw new AppError("validation_error", "The request is not valid", { details: [detail] });
  };
  if (model && models && !models.includes(model)) refuse("body.model", models);
  if (language && languages && !languages.includes(language)) refuse("body.language", languages);
}

export function transcriptionRoutes(deps: TranscriptionDeps): FastifyPluginAsync {
  const { db, speech } = deps;
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();

    app.post(
      "/ai/transcribe",
      {
        config: {
          ...config,
          limitPerMinute: 10,
          errors: [
            "MEDIA_NOT_FOUND",
            "MEDIA_INVALID",
            "UNSUPPORTED_MEDIA_TYPE",
            "insufficient_credits",
            "upstream_error",
            "service_unavailable",
          ],
        },
        schema: {
          tags,
          summary: "Write down what is said in a file",
          description:
            "Costs one credit for each minute begun, taken before the work and given back if it fails.",
          body: shapes.transcribeBody,
          response: { 200: shapes.transcribeAnswer },
        },
      },
      async (request, reply) => {
        const { userId } = callerOf(request);
        checkOffer(speech, request.body);
        return await answerOnceLeased(deps, request, reply, async () => {
          const jobId = jobIdOf(request, userId);
          const job = await transcribe(deps, { ...request.body, jobId, userId });
          const body = {
            jobId,
            transcript: job.transcript ?? "",
            creditsDebited: job.credits,
            likelyLyrics: job.isLikelyLyrics ?? false,
          };
          return async () => ({ status: 200, body });
        });
      },
    );

    app.get(
      "/ai/transcriptions",
      {
        config,
        schema: {
          tags,
          summary: "Your transcriptions, newest first",
          querystring: shapes.pageQuery,
          response: { 200: shapes.transcriptionList },
        },
      },
      async (request) => {
        const { userId } = callerOf(request);
        const { query } = request;
        const jobs = await listTranscriptions(db, userId, { ...query, limit: query.limit + 1 });
        const page = jobs.slice(0, query.limit);
        const next = jobs.length > query.limit ? (page.at(-1)?.id ?? null) : null;
        return { transcriptions: page.map(toSummary), next };
      },
    );

    app.get(
      "/ai/transcriptions/:jobId",
      {
        config: { ...config, errors: ["not_found"] },
        schema: {
          tags,
          summary: "A transcription, also as subtitles",
          description: "`?format=srt` and `?format=vtt` give the segments as a file of subtitles.",
          params: z.object({ jobId: z.string().max(64) }),
          querystring: z.strictObject({ format: shapes.format }),
          response: { 200: shapes.transcription },
        },
      },
      async (request, reply) => {
        const { userId } = callerOf(request);
        const { format } = request.query;
        const job = await findTranscription(db, userId, request.params.jobId);
        if (!job) throw new AppError("not_found", "There is no such transcription");
        if (format === "json")
          return { ...toSummary(job), transcript: job.transcript, segments: job.segments };
        if (!job.segments) throw new AppError("not_found", "There is no transcript to show yet");
        const { type, write } = subtitles[format];
        return await reply.type(type).send(write(job.segments) as never);
      },
    );
  };
}
