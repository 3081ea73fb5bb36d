import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import type { Readable } from "node:stream";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { inTransaction } from "../db/index.ts";
import { AppError } from "../errors.ts";
import type { ZodTypes } from "../http/index.ts";
import { ingest } from "./ingest.ts";
import { storedAnswer } from "./routes.ts";
import type { MediaDeps } from "./routes.ts";
import * as shapes from "./schema.ts";
import { findSlot, useSlot } from "./upload-slots.ts";

export interface DirectUploadDeps extends MediaDeps {
  guard(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** The request's body, apart from its connection: giving up on the bytes must not take the answer away. */
function bytesOf(request: IncomingMessage): Readable {
  const bytes = new PassThrough();
  const cutOff = (): void => {
    if (!request.complete) bytes.destroy(new AppError("upload_failed", "The upload was cut off"));
  };
  request.once("error", cutOff).once("close", cutOff);
  // What still arrives after an answer is read and dropped.
  bytes.once("close", () => request.unpipe(bytes).resume());
  return request.pipe(bytes);
}

const noSlot = (): AppError =>
  new AppError("not_found", "This upload address is unknown, has expired or was used");

/** Takes the bytes themselves, at an address that was handed out for it. */
export function directUploadRoute(deps: DirectUploadDeps): FastifyPluginAsync {
  const { db, limits, urls } = deps;
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    scope.addHook("onRequest", deps.guard);
    scope.withTypeProvider<ZodTypes>().put(
      "/media/uploads/:token",
      {
        bodyLimit: limits.maxBytes,
        config: {
          isGated: false,
          bodySeconds: limits.downloadSeconds,
          errors: ["upload_failed", "payload_too_large"],
        },
        schema: {
          tags: ["Media"],
          summary: "Send a file",
          description: "The body is the file, whatever its type. What it is, the bytes say.",
          params: shapes.slotParams,
          response: { 201: shapes.uploadAnswer },
        },
      },
      async (request, reply) => {
        const { token } = request.params;
        if (Number(request.headers["content-length"]) > limits.maxBytes)
          throw new AppError(
            "payload_too_large",
            `A file may have ${limits.maxBytes} bytes at most`,
          );
        const owner = await findSlot(db, token);
        if (!owner) throw noSlot();
        const stored = await ingest(deps, bytesOf(request.raw), owner);
        try {
          await inTransaction(db, async (tx) => {
            await stored.finish(tx);
            if (!(await useSlot(tx, token, stored.id))) throw noSlot();
          });
        } catch (error) {
          await stored.discard();
          throw error;
        }
        return await reply.code(201).send(storedAnswer(urls.base, stored));
      },
    );
  };
}
