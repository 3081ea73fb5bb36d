import type { OutgoingHttpHeaders } from "node:http";
import { addAbortSignal } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Pool } from "../db/index.ts";
import { z } from "zod";
import { AppError } from "../errors.ts";
import type { ZodTypes } from "../http/index.ts";
import { cacheControl, dispositionOf, headersOf, isKnown, mayContinue } from "./headers.ts";
import { goneOf } from "./hang-up.ts";
import { findMedia } from "./queries.ts";
import type { MediaRecord } from "./queries.ts";
import { parseRange } from "./ranges.ts";
import { smallBytes } from "./small-files.ts";
import type { Remembered, SmallFiles } from "./small-files.ts";
import { ObjectMissing } from "./storage/index.ts";
import type { ByteRange } from "./storage/storage.ts";
import type { Storage } from "./storage/index.ts";

export interface ProxyDeps {
  db: Pool;
  storage: Storage;
  smallFiles: SmallFiles;
  /** `redirect` needs a storage that signs addresses, `accel` an nginx in front that reads the files. */
  delivery: "stream" | "redirect" | "accel";
  guard(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

const name = /^([a-z0-9]{8,64})(?:\.[a-z0-9]{1,10})?$/i;
const signedSeconds = 300;

const missing = (): AppError => new AppError("not_found", "There is no such file");

/** Lookup is by id alone: the extension is for people. */
function idOf(path: string): string {
  const id = name.exec(path)?.[1];
  if (id === undefined || id !== id.toLowerCase()) throw missing();
  return id;
}

async function load({ db, storage, smallFiles }: ProxyDeps, id: string): Promise<Remembered> {
  const record = await findMedia(db, id);
  if (!record) throw missing();
  const bytes = record.sizeBytes <= smallBytes ? await buffer(await storage.open(record)) : null;
  const found = { record, bytes, headers: headersOf(record) };
  smallFiles.remember(id, found);
  return found;
}

/** Lets somebody else send the bytes, who does ranges and conditions too. */
async function handOver(
  deps: ProxyDeps,
  record: MediaRecord,
  reply: FastifyReply,
): Promise<boolean> {
  const { storage, delivery } = deps;
  if (delivery === "redirect" && storage.signedUrl) {
    const contentDisposition = dispositionOf(record);
    const location = await storage.signedUrl(record, {
      expiresSeconds: signedSeconds,
      contentType: record.contentType,
      cacheControl,
      ...(contentDisposition === undefined ? {} : { contentDisposition }),
    });
    const headers = { location, "cache-control": `private, max-age=${signedSeconds - 60}` };
    await reply.code(302).headers(headers).send();
    return true;
  }
  if (delivery === "accel" && storage.internalPath) {
    const path = `/_media/${storage.internalPath(record)}`;
    const headers = { ...headersOf(record), "content-type": record.contentType };
    await reply.headers({ ...headers, "x-accel-redirect": path }).send();
    return true;
  }
  return false;
}

const lengthOf = (range: ByteRange | null, { sizeBytes }: MediaRecord): OutgoingHttpHeaders =>
  range
    ? {
        "content-length": range.end - range.start + 1,
        "content-range": `bytes ${range.start}-${range.end}/${sizeBytes}`,
      }
    : { "content-length": sizeBytes };

async function serve(deps: ProxyDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const id = idOf((request.params as { name: string }).name);
  const { record, bytes, headers } = deps.smallFiles.recall(id) ?? (await load(deps, id));
  const { storage } = deps;
  if (deps.delivery !== "stream" && (await handOver(deps, record, reply))) return;
  if (isKnown(record, request.headers)) return void (await reply.code(304).headers(headers).send());
  const whole = { ...headers, "content-type": record.contentType };
  if (request.method === "HEAD")
    return void (await reply.headers(whole).header("content-length", record.sizeBytes).send());
  const range = mayContinue(record, request.headers)
    ? parseRange(request.headers.range, record.sizeBytes)
    : null;
  if (range === "unsatisfiable") {
    reply.headers(headers).header("content-range", `bytes */${record.sizeBytes}`);
    throw new AppError("range_not_satisfiable", "Nothing of the file is in this range");
  }
  if (range) reply.code(206);
  const answer: OutgoingHttpHeaders = { ...whole, ...lengthOf(range, record) };
  const gone = goneOf(request.raw.socket);
  if (!bytes && !storage.send) {
    const stream = addAbortSignal(gone, await storage.open(record, range ?? undefined));
    return void (await reply.headers(answer).send(stream));
  }
  // Past the framework, which would go through hooks and streams that have nothing to do here (bench/RESULTS.md, media).
  const begin = (): void => {
    reply.hijack();
    reply.raw.writeHead(reply.statusCode, {
      ...reply.getHeaders(),
      ...answer,
    } as OutgoingHttpHeaders);
  };
  if (bytes) begin();
  else
    await storage.send?.(record, range ?? { start: 0, end: record.sizeBytes - 1 }, {
      begin,
      sink: reply.raw,
      gone,
    });
  reply.raw.end(bytes && (range ? bytes.subarray(range.start, range.end + 1) : bytes));
}

const bytes = z.string().describe("The file's bytes");

/** `GET` and `HEAD` of stored files, for everybody who knows the id. */
export function mediaProxy(deps: ProxyDeps): FastifyPluginAsync {
  return async (scope) => {
    const config = { isGated: false, hidesRequestId: true };
    scope.addHook("onRequest", deps.guard);
    scope.withTypeProvider<ZodTypes>().route({
      method: ["GET", "HEAD"],
      url: "/media/:name",
      config: { ...config, errors: ["not_found", "range_not_satisfiable"] },
      schema: {
        tags: ["Media"],
        summary: "A stored file",
        description: "Ranges and conditional requests as RFC 9110 says. The extension is ignored.",
        params: z.object({ name: z.string() }),
        response: {
          200: {
            description: "The file",
            content: { "application/octet-stream": { schema: bytes } },
          },
          206: {
            description: "The part asked for",
            content: { "application/octet-stream": { schema: bytes } },
          },
        },
      },
      async handler(request, reply) {
        try {
          await serve(deps, request, reply);
        } catch (error) {
          // Half an answer must not look like a whole one.
          if (reply.sent) reply.raw.destroy();
          else throw error instanceof ObjectMissing ? missing() : error;
        }
        return await reply;
      },
    });
    scope.route({
      method: ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
      url: "/media/:name",
      config: { ...config, isUndocumented: true },
      // Before its body is read or judged.
      onRequest(_request, reply, done) {
        reply.header("allow", "GET, HEAD");
        done(new AppError("method_not_allowed", "Files can only be read: GET or HEAD"));
      },
      handler: () => undefined,
    });
  };
}
