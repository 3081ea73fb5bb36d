import type { FastifyPluginAsync } from "fastify";
import { AppError } from "../errors.ts";
import { answerOnce, answerOnceLeased, callerOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import type { Sealer } from "../sealing.ts";
import { ingestFrom } from "./ingest.ts";
import type { IngestDeps, Ingested } from "./ingest.ts";
import { findOwnMedia, listMedia } from "./queries.ts";
import type { MediaRecord } from "./queries.ts";
import { removeMedia } from "./remove.ts";
import type { RemoveDeps } from "./remove.ts";
import * as shapes from "./schema.ts";
import type { SmallFiles } from "./small-files.ts";
import { openSlot } from "./upload-slots.ts";

export interface MediaDeps extends IngestDeps, RemoveDeps {
  sealer: Sealer;
  smallFiles: SmallFiles;
  urls: { base: string };
}

const tags = ["Media"];
const config = { credential: "apiKey" } as const;

/** Where a file is served. */
export const mediaAddress = (
  base: string,
  { id, extension }: Pick<MediaRecord, "id" | "extension">,
): string => `${base}/media/${id}.${extension}`;

/** The answer to whoever stored a file. */
export const storedAnswer = (base: string, stored: Ingested) => ({
  url: mediaAddress(base, stored),
  id: stored.id,
  contentType: stored.contentType,
  size: stored.sizeBytes,
});

const toView = (base: string, record: MediaRecord): shapes.MediaView => ({
  url: mediaAddress(base, record),
  id: record.id,
  contentType: record.contentType,
  size: record.sizeBytes,
  checksum: record.checksum,
  width: record.width,
  height: record.height,
  durationSeconds: record.durationMs === null ? null : record.durationMs / 1_000,
  createdAt: record.createdAt.toISOString(),
});

export function mediaRoutes(deps: MediaDeps): FastifyPluginAsync {
  const { db, limits, smallFiles } = deps;
  const { base } = deps.urls;
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();

    app.post(
      "/media",
      {
        config: { ...config, limitPerMinute: 30, errors: ["upload_failed"] },
        schema: {
          tags,
          summary: "Store a file from an address",
          body: shapes.uploadBody,
          response: { 201: shapes.uploadAnswer },
        },
      },
      async (request, reply) =>
        await answerOnceLeased(deps, request, reply, async () => {
          const stored = await ingestFrom(deps, request.body.url, callerOf(request));
          return async (tx) => {
            await stored.finish(tx);
            return { status: 201, body: storedAnswer(base, stored) };
          };
        }),
    );

    app.post(
      "/media/uploads",
      {
        config: { ...config, limitPerMinute: 30 },
        schema: {
          tags,
          summary: "Get an address to send a file to",
          description:
            "For who holds the bytes: PUT them to `uploadUrl`, which needs no key and works once.",
          response: { 201: shapes.slotAnswer },
        },
      },
      async (request, reply) =>
        await answerOnce(deps, request, reply, async (tx) => {
          const { token, expiresAt } = await openSlot(tx, callerOf(request));
          const uploadUrl = `${base}/v1/media/uploads/${token}`;
          const body = { uploadUrl, expiresAt: expiresAt.toISOString(), maxBytes: limits.maxBytes };
          return { status: 201, body };
        }),
    );

    app.get(
      "/media",
      {
        config,
        schema: {
          tags,
          summary: "List your files",
          querystring: shapes.listQuery,
          response: { 200: shapes.listAnswer },
        },
      },
      async (request) => {
        const { limit, cursor } = request.query;
        const found = await listMedia(db, callerOf(request).userId, {
          limit: limit + 1,
          after: cursor,
        });
        const page = found.slice(0, limit);
        return {
          media: page.map((record) => toView(base, record)),
          next: found.length > limit ? (page.at(-1)?.id ?? null) : null,
        };
      },
    );

    app.get(
      "/media/:id",
      {
        config,
        schema: {
          tags,
          summary: "What is known of a file",
          params: shapes.mediaParams,
          response: { 200: shapes.media },
        },
      },
      async (request) => {
        const [record] = await findOwnMedia(db, callerOf(request).userId, [request.params.id]);
        if (!record) throw new AppError("not_found", "There is no such media");
        return toView(base, record);
      },
    );

    app.delete(
      "/media/:id",
      {
        config,
        schema: {
          tags,
          summary: "Delete a file",
          description: "Refused while a post that waits needs it.",
          params: shapes.mediaParams,
          response: { 200: shapes.deleteAnswer },
        },
      },
      async (request) => {
        await removeMedia(deps, callerOf(request).userId, request.params.id);
        smallFiles.forget(request.params.id);
        return { deleted: true } as const;
      },
    );
  };
}
