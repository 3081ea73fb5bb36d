import { hash } from "node:crypto";
import type { Readable, Writable } from "node:stream";

/** Where an object is, and the token without which it can't be opened. */
export interface Place {
  objectPath: string;
  downloadToken: string;
}

/** Both ends are part of it. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Who reads: `begin` is called before the first byte. */
export interface Client {
  begin(): void;
  sink: Writable;
  gone: AbortSignal;
}

/** A finished file on this machine. */
export interface LocalFile {
  path: string;
  sizeBytes: number;
  contentType: string;
}

export interface SignedUrlOptions {
  expiresSeconds: number;
  contentType: string;
  cacheControl: string;
  contentDisposition?: string;
}

export interface Storage {
  /** Takes the file over: gone on success, untouched on failure. Nothing is visible before it is whole. */
  put(place: Place, file: LocalFile): Promise<void>;
  /** The bytes, or `ObjectMissing` where there are none or the token is wrong. Destroying the stream closes what is behind. */
  open(place: Place, range?: ByteRange): Promise<Readable>;
  /** Only where it is faster than a stream (files): writes the bytes to the client itself. */
  send?(place: Place, range: ByteRange, client: Client): Promise<void>;
  /** What is not there is fine. */
  remove(place: Place): Promise<void>;
  /** Only where clients can fetch for themselves (S3): an address that is good for a short time. */
  signedUrl?(place: Place, options: SignedUrlOptions): Promise<string>;
  /** Only where a web server in front can read it (files): the path below the root, for X-Accel-Redirect. */
  internalPath?(place: Place): string;
  close(): Promise<void>;
}

export class ObjectMissing extends Error {
  constructor({ objectPath }: Place, options?: ErrorOptions) {
    super(`There is no object at ${objectPath} for this token`, options);
    this.name = "ObjectMissing";
  }
}

const safePath = /^[a-z0-9]+(?:\/[a-z0-9]+)*$/;

/** The object's real name. It holds a digest of the token, so that the path alone finds nothing. */
export function keyOf({ objectPath, downloadToken }: Place): string {
  if (!safePath.test(objectPath))
    throw new Error(`Not an object path: ${JSON.stringify(objectPath)}`);
  return `${objectPath}.${hash("sha256", downloadToken).slice(0, 32)}`;
}
