import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

export interface Answer {
  status: number;
  headers?: Record<string, string | string[]>;
  /** Absent: empty. Text, bytes and streams go out as they are; anything else as JSON. */
  body?: unknown;
}

export interface EncodedAnswer {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer | Readable;
}

export function encode({ status, headers: given = {}, body }: Answer): EncodedAnswer {
  const headers = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]),
  );
  if (body === undefined) return { status, headers, body: Buffer.alloc(0) };
  if (body instanceof Readable) return { status, headers, body };
  if (body instanceof Uint8Array) return { status, headers, body: Buffer.from(body) };
  const isText = typeof body === "string";
  return {
    status,
    headers: {
      "content-type": isText ? "text/plain; charset=utf-8" : "application/json",
      ...headers,
    },
    body: Buffer.from(isText ? body : JSON.stringify(body)),
  };
}

export async function send(reply: FastifyReply, answer: Answer): Promise<void> {
  const { status, headers, body } = encode(answer);
  reply.code(status).headers(headers);
  await (body instanceof Buffer && body.length === 0 ? reply.send() : reply.send(body));
}
