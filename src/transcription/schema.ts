import { z } from "zod";

export const transcribeBody = z.strictObject({
  mediaId: z.string().min(1).max(64).describe("A stored file with sound, one's own"),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, "must be an ISO 639-1 code")
    .optional()
    .describe("ISO 639-1; detected where the engine can and it is left out"),
  model: z.string().min(1).max(100).optional().describe("One of the engine's models"),
  durationSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .optional()
    .describe("How long it is. The file itself counts where it is longer"),
});

export const transcribeAnswer = z.object({
  jobId: z.string(),
  transcript: z.string(),
  creditsDebited: z.number().describe("One for each minute begun"),
  likelyLyrics: z.boolean().describe("Whether it reads as if it were sung"),
});

const segment = z.object({ start: z.number(), end: z.number(), text: z.string() });

export const transcription = z.object({
  jobId: z.string(),
  status: z.enum(["processing", "succeeded", "failed"]),
  mediaId: z.string(),
  transcript: z.string().nullable(),
  segments: z.array(segment).nullable(),
  language: z.string().nullable(),
  model: z.string().nullable(),
  durationSeconds: z.number().nullable(),
  creditsDebited: z.number(),
  likelyLyrics: z.boolean().nullable(),
  error: z.string().nullable(),
  createdAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
});

export const transcriptionList = z.object({
  transcriptions: z.array(transcription.omit({ segments: true, transcript: true })),
  next: z.string().nullable(),
});

export const format = z.enum(["json", "srt", "vtt"]).default("json");

export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().max(64).optional(),
});
