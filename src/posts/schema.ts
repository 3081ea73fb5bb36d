import { z } from "zod";
import { platformNames } from "../platforms/index.ts";

const maxTargets = 100;
const url = z.url({ protocol: /^https?$/ }).max(8_192);
const urls = z.array(url).max(100);
const platformValue = z
  .string()
  .min(1)
  .max(40)
  .describe(`One of ${platformNames.join(", ")}, or an alias`);

const target = z.strictObject({
  platform: platformValue,
  accountId: z.string().min(1).max(300).describe("One of your accounts on the platform"),
  targetId: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe("Targets with the same id are one; default `platform:accountId`"),
});

export const content = z.strictObject({
  text: z.string().max(100_000).optional(),
  platform: z
    .union([
      platformValue,
      target,
      z
        .array(z.union([platformValue, target]))
        .min(1)
        .max(maxTargets),
    ])
    .describe("Where to publish: a platform, an account on it, or several of both"),
  mediaType: z
    .enum(["video", "image", "text"])
    .optional()
    .describe("Found out from the rest when left out"),
  videoUrl: url.optional(),
  imageUrls: urls.optional(),
  mediaUrls: urls.optional(),
  mediaIds: z
    .array(z.string().min(8).max(64))
    .max(100)
    .optional()
    .describe("Ids from `POST /v1/media`"),
  originalImageUrl: url.optional(),
  originalVideoUrl: url.optional(),
  originalImageUrls: urls.optional(),
  originalMediaUrls: urls.optional(),
});

export const scheduledTime = z.iso
  .datetime({ offset: true })
  .describe("At least a minute ahead, with a zone");

export const submitBody = z.strictObject({
  post: z.strictObject({ content }),
  scheduledTime: scheduledTime.nullish().describe("When to publish. Left out or null: now"),
  enableRepurposing: z
    .boolean()
    .default(false)
    .describe("Feed the published post to your automations"),
  trial_reel: z.boolean().default(false).describe("Publish Instagram reels as trial reels"),
});

export const submitAnswer = z.object({ postSubmissionId: z.uuid() });

export const runError = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  upstreamStatus: z.number().optional(),
  upstreamBody: z.string().optional(),
  attempts: z.number(),
});

const timestamp = z.iso.datetime();

export const run = z.object({
  id: z.uuid(),
  targetId: z.string(),
  platform: z.enum(platformNames),
  accountId: z.string(),
  status: z.enum(["queued", "processing", "succeeded", "failed"]),
  remoteId: z.string().nullable(),
  url: z.string().nullable(),
  error: runError.nullable(),
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
});

export const submission = z.object({
  postSubmissionId: z.uuid(),
  status: z.enum(["queued", "orchestrating", "dispatched", "canceled"]),
  content: z.looseObject({}),
  targets: z.array(
    z.object({ targetId: z.string(), platform: z.enum(platformNames), accountId: z.string() }),
  ),
  scheduledTime: timestamp.nullable(),
  enableRepurposing: z.boolean(),
  trial_reel: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
  runs: z.array(run),
});

export const postParams = z.object({ id: z.uuid() });

export const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.uuid().optional().describe("`next` of the page before"),
  status: z.enum(["queued", "orchestrating", "dispatched", "canceled"]).optional(),
  platform: platformValue.optional(),
  from: z.iso.datetime({ offset: true }).optional().describe("Due at or after"),
  to: z.iso.datetime({ offset: true }).optional().describe("Due before"),
});

export const listAnswer = z.object({ posts: z.array(submission), next: z.uuid().nullable() });

export const changeBody = z
  .strictObject({
    scheduledTime: scheduledTime.nullish(),
    text: z.string().max(100_000).optional(),
  })
  .refine((change) => Object.keys(change).length > 0, "Give a new time, a new text, or both");

export const canceledAnswer = z.object({ canceled: z.literal(true) });
export const retryAnswer = z.object({
  retried: z.array(z.string()).describe("The target ids that are tried again"),
});

export const problem = z.object({
  field: z.string(),
  message: z.string(),
  code: z.string(),
  received: z.string().optional(),
});
export const validateAnswer = z.object({ valid: z.boolean(), problems: z.array(problem) });

export type Content = z.output<typeof content>;
export type SubmitBody = z.output<typeof submitBody>;
export type SubmissionView = z.output<typeof submission>;
export type RunError = z.output<typeof runError>;
