import { createHash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import type { RequestFacts } from "./journal.ts";

/** A request as a service sees it. */
export interface Call {
  method: string;
  /** As it was sent, with the query. */
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
  headers: FastifyRequest["headers"];
  raw: Buffer;
  /** The service's own address as the caller wrote it, for the absolute addresses that platforms hand out. */
  baseUrl: string;
  /** A fault asks the service to treat the presented token as expired. */
  tokenExpired: boolean;
  /** Undefined when the body is not JSON. */
  json(): unknown;
  form(): URLSearchParams;
  /** Rejects when the body is not multipart (or a form). */
  multipart(): Promise<FormData>;
}

export function readCall(request: FastifyRequest, basePath: string): Call {
  // No body at all leaves it undefined; the catch-all parser makes every other body a Buffer.
  const raw = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
  return {
    method: request.method,
    path: request.url,
    params: request.params as Record<string, string>,
    query: new URL(request.url, "http://localhost").searchParams,
    headers: request.headers,
    raw,
    baseUrl: `${request.protocol}://${request.host}${basePath}`,
    tokenExpired: false,
    json: () => parseJson(raw),
    form: () => new URLSearchParams(raw.toString()),
    multipart: () =>
      new Response(raw, {
        headers: { "content-type": request.headers["content-type"] ?? "" },
      }).formData(),
  };
}

export function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const inlineLimitBytes = 16 * 1024;
const noise = new Set([
  "host",
  "connection",
  "accept",
  "accept-encoding",
  "accept-language",
  "sec-fetch-mode",
]);

/** Tokens are kept on purpose: they are this world's own, and which one was used is often the question. */
export function factsOf({ method, path, headers, raw }: Call): RequestFacts {
  const kept = Object.entries(headers).filter(([name]) => !noise.has(name));
  const isInline = raw.length <= inlineLimitBytes && isUtf8(raw);
  return {
    method,
    path,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    sizeBytes: raw.length,
    ...(isInline
      ? { body: raw.toString() }
      : { sha256: createHash("sha256").update(raw).digest("hex") }),
  };
}
