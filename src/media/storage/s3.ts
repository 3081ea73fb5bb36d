import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { ObjectMissing, keyOf } from "./storage.ts";
import type { LocalFile, Storage } from "./storage.ts";

export interface S3Options {
  /** Left out: AWS itself. */
  endpoint?: string | undefined;
  region: string;
  bucket: string;
  /** Left out: whatever the machine offers (environment, profile, instance role). */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  forcePathStyle: boolean;
}

// Two parts at a time, read in pieces of 256 KiB: an upload of 1 GiB takes 76 to 90 MB of memory, most of it waiting for
// the collector. With four at a time half of that file takes 100 MB.
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;
const readBytes = 256 * 1024;
const connectMs = 5_000;
const idleMs = 30_000;

function createClient({ accessKeyId, secretAccessKey, ...options }: S3Options): S3Client {
  // A download holds its connection for as long as its reader takes, so slow readers must not keep the others waiting:
  // there are as many connections as there are requests.
  const agent = { maxSockets: Infinity };
  return new S3Client({
    region: options.region,
    forcePathStyle: options.forcePathStyle,
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
    // Many servers other than AWS can't read the trailing checksums that are the default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: idleMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/** In parts, so that memory does not grow with the file. */
async function upload(
  client: S3Client,
  object: { Bucket: string; Key: string },
  file: LocalFile,
): Promise<void> {
  const parts = new Upload({
    client,
    params: {
      ...object,
      Body: createReadStream(file.path, { highWaterMark: readBytes }),
      ContentLength: file.sizeBytes,
      ContentType: file.contentType,
    },
    partSize: partBytes,
    queueSize: partsAtOnce,
    leavePartsOnError: true,
  });
  try {
    await parts.done();
  } catch (error) {
    // Not left to `Upload`, which keeps the parts when it is the completion that fails, and hides the reason behind
    // that of a failing abort.
    if (parts.uploadId === undefined) throw error;
    const abort = new AbortMultipartUploadCommand({ ...object, UploadId: parts.uploadId });
    await client.send(abort).catch((abortError: unknown) => {
      throw new AggregateError(
        [error, abortError],
        "An upload failed, and its parts could not be removed",
        {
          cause: error,
        },
      );
    });
    throw error;
  }
}

/** Objects in a bucket of S3, or of a server that speaks like it. The bucket is there already. */
export function createS3Storage(options: S3Options): Storage {
  const client = createClient(options);
  const { bucket: Bucket } = options;
  return {
    async put(place, file) {
      await upload(client, { Bucket, Key: keyOf(place) }, file);
      await rm(file.path);
    },

    async open(place, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      try {
        const { Body } = await client.send(
          new GetObjectCommand({ Bucket, Key: keyOf(place), Range }),
        );
        if (!(Body instanceof Readable)) throw new Error("The storage answered without a body");
        return Body;
      } catch (error) {
        throw error instanceof NoSuchKey ? new ObjectMissing(place, { cause: error }) : error;
      }
    },

    async remove(place) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(place) }));
    },

    async signedUrl(place, { expiresSeconds, contentType, cacheControl, contentDisposition }) {
      const command = new GetObjectCommand({
        Bucket,
        Key: keyOf(place),
        ResponseContentType: contentType,
        ResponseCacheControl: cacheControl,
        ResponseContentDisposition: contentDisposition,
      });
      return await getSignedUrl(client, command, { expiresIn: expiresSeconds });
    },

    async close() {
      client.destroy();
    },
  };
}
