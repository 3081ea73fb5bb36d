import { pipeline, Transform } from "node:stream";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { OutboundError } from "./outbound-error.ts";
import type { OutboundFailure } from "./outbound-error.ts";

/** None is asked for. Some hosts send one all the same. */
const decoders = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

const idleCodes: ReadonlySet<unknown> = new Set([
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

export const isIdle = (error: unknown): boolean =>
  idleCodes.has((error as NodeJS.ErrnoException).code);

export interface BodyRules {
  /** Of the call, for messages. */
  name: string;
  status: number;
  encoding: string;
  maxBytes: number;
  /** Aborted, with why, by what ends the download from outside; and by the body, when it is over. */
  life: AbortController;
}

/** The decoded bytes, up to the cap. It ends only where the other side said so: everything else is an error. */
export function openBody(raw: Readable, rules: BodyRules): Readable {
  const { name, status, encoding, maxBytes, life } = rules;
  const fault = (failure: OutboundFailure, what: string, cause?: Error): OutboundError =>
    new OutboundError(failure, `${name} ${what}`, { wasSent: true, status, cause });
  const cut = (cause: Error): OutboundError =>
    fault("cut", "broke off before the end of the file", cause);

  const decoder = decoders.get(encoding)?.();
  if (encoding && encoding !== "identity" && !decoder) {
    throw fault("encoding", "sent an encoding that was not asked for");
  }
  let sizeBytes = 0;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes <= maxBytes) return done(null, chunk);
      return done(fault("too_large", `sent more than ${maxBytes} bytes`));
    },
    destroy(error, done) {
      life.abort(error);
      done(error);
    },
  });
  life.signal.addEventListener("abort", () => {
    body.destroy(life.signal.reason instanceof OutboundError ? life.signal.reason : undefined);
  });
  raw.once("error", (error) => {
    body.destroy(isIdle(error) ? fault("idle", "fell silent", error) : cut(error));
  });
  decoder?.once("error", (error: NodeJS.ErrnoException) => {
    const isHalf = error.code === "Z_BUF_ERROR";
    body.destroy(isHalf ? cut(error) : fault("encoding", "sent what can't be decoded", error));
  });
  // An error needs no other ear: it has reached the body, and whoever reads that.
  return pipeline(decoder ? [raw, decoder, body] : [raw, body], () => {}) as Transform;
}
