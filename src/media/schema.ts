import { z } from "zod";

export const uploadBody = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(4_096)
    .refine((url) => URL.canParse(url), "must be a URL")
    .describe("Where the file is. Share links of Google Drive, Dropbox and OneDrive work too"),
});

export const uploadAnswer = z.object({
  url: z.string().describe("Stable and public"),
  id: z.string().describe("What other calls take as mediaId"),
  contentType: z.string().describe("What the bytes say"),
  size: z.int(),
});

export const slotAnswer = z.object({
  uploadUrl: z.string().describe("PUT the bytes here, once"),
  expiresAt: z.iso.datetime(),
  maxBytes: z.int(),
});

export const slotParams = z.object({ token: z.string() });
export const mediaParams = z.object({ id: z.string().max(100) });

export const media = uploadAnswer.extend({
  checksum: z.string().describe("SHA-256 of the bytes, in hex"),
  width: z.int().nullable(),
  height: z.int().nullable(),
  durationSeconds: z.number().nullable(),
  createdAt: z.iso.datetime(),
});
export type MediaView = z.output<typeof media>;

export const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(100).optional().describe("`next` of the page before"),
});
export const listAnswer = z.object({ media: z.array(media), next: z.string().nullable() });
export const deleteAnswer = z.object({ deleted: z.literal(true) });
