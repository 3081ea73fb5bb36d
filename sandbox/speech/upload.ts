import { createHash } from "node:crypto";
import { MultipartError, MultipartParser, boundaryOf } from "./multipart.ts";
import type { PartEvent, PartHead } from "./multipart.ts";

export interface UploadedFile {
  name: string;
  type: string;
  sizeBytes: number;
  sha256: string;
  /** As they came: joining them would hold the file twice. */
  chunks: readonly Buffer[];
}

/** A form as it came in. Over the cap nothing of it is kept, and `problem` says why it could not be read. */
export interface Upload {
  bodyBytes: number;
  isTooLarge: boolean;
  problem?: string;
  fields: ReadonlyMap<string, readonly string[]>;
  file?: UploadedFile;
}

interface OpenPart {
  head: PartHead;
  chunks: Buffer[];
  sizeBytes: number;
  hash: ReturnType<typeof createHash>;
}

const fieldLimitBytes = 1024 * 1024;

/** Reads to the end also what it will refuse: a client that is still writing must get the answer, not a broken pipe. */
export async function readUpload(
  body: AsyncIterable<Buffer>,
  contentType: string,
  capBytes: number,
): Promise<Upload> {
  const form = new Form();
  const boundary = boundaryOf(contentType);
  const parser = boundary === undefined ? undefined : new MultipartParser(boundary);
  let problem = parser ? undefined : "the content type names no boundary";
  let bodyBytes = 0;
  const attempt = (read: () => void): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof MultipartError)) throw error;
      problem = error.message;
    }
  };
  for await (const chunk of body) {
    bodyBytes += chunk.length;
    if (bodyBytes > capBytes) form.forget();
    else if (parser && problem === undefined) {
      attempt(() => {
        for (const event of parser.push(chunk)) form.add(event);
      });
    }
  }
  const isTooLarge = bodyBytes > capBytes;
  if (parser && problem === undefined && !isTooLarge) attempt(() => parser.end());
  if (problem !== undefined) form.forget();
  return {
    bodyBytes,
    isTooLarge,
    fields: form.fields,
    ...(problem !== undefined && { problem }),
    ...(form.file && { file: form.file }),
  };
}

class Form {
  fields = new Map<string, string[]>();
  file: UploadedFile | undefined;
  #part: OpenPart | undefined;

  add(event: PartEvent): void {
    if (event.kind === "head") {
      this.#part = { head: event.head, chunks: [], sizeBytes: 0, hash: createHash("sha256") };
    } else if (this.#part && event.kind === "data") this.#keep(this.#part, event.bytes);
    else if (this.#part) this.#close(this.#part);
  }

  forget(): void {
    this.fields = new Map();
    this.file = undefined;
    this.#part = undefined;
  }

  #keep(part: OpenPart, bytes: Buffer): void {
    part.sizeBytes += bytes.length;
    if (part.head.filename === undefined && part.sizeBytes > fieldLimitBytes)
      throw new MultipartError(`the field ${part.head.name} is too long`);
    part.chunks.push(bytes);
    part.hash.update(bytes);
  }

  #close({ head, chunks, sizeBytes, hash }: OpenPart): void {
    const { name, filename, contentType = "application/octet-stream" } = head;
    if (filename === undefined) {
      const values = this.fields.get(name) ?? [];
      this.fields.set(name, [...values, Buffer.concat(chunks).toString()]);
    } else if (name === "file") {
      const sha256 = hash.digest("hex");
      this.file = { name: filename, type: contentType, sizeBytes, sha256, chunks };
    }
    this.#part = undefined;
  }
}
