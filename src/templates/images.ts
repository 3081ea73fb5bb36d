import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Pool } from "../db/index.ts";
import { AppError } from "../errors.ts";
import type { ErrorDetail } from "../errors.ts";
import { ObjectMissing, findOwnMedia, receive } from "../media/index.ts";
import type { MediaRecord, Storage } from "../media/index.ts";
import { OutboundError } from "../outbound/index.ts";
import type { Outbound } from "../outbound/index.ts";
import { Unusable, prepareImage } from "./prepare-image.ts";
import type { Size } from "./prepare-image.ts";
import type { Slots } from "./slots.ts";

export interface ImageDeps {
  db: Pool;
  storage: Storage;
  outbound: Pick<Outbound, "download">;
  limits: { incomingDir: string; maxBytes: number; downloadSeconds: number };
  studio: { prepare: Slots };
}

/** A picture that a config names. Its bytes may still be where they are stored. */
export interface NamedImage {
  /** SHA-256 of the file, in hex. */
  digest: string;
  /** Ready to be drawn. */
  read(): Promise<Uint8Array>;
}

const maxBytes = 20 * 1_024 * 1_024;
const maxSeconds = 15;
const mediaId = /^[a-z0-9]{26}$/;

function reasonOf(error: unknown): unknown {
  const options = { cause: error };
  if (error instanceof ObjectMissing)
    return new Unusable("The file is not there any more", options);
  if (!(error instanceof OutboundError)) return error;
  return error.failure === "too_large"
    ? new Unusable(`The picture is larger than ${maxBytes} bytes`, options)
    : new Unusable(`The picture could not be downloaded: ${error.message}`, options);
}

/** By way of a file, so that slow hosts hold neither memory nor a place in the queue of those that are prepared. */
async function take(
  { limits, studio }: ImageDeps,
  open: () => Promise<Readable>,
  canvas: Size,
): Promise<{ digest: string; bytes: Uint8Array }> {
  const path = join(limits.incomingDir, randomUUID());
  try {
    const { checksum: digest } = await receive(await open(), path, maxBytes);
    return { digest, bytes: await studio.prepare(async () => await prepareImage(path, canvas)) };
  } catch (error) {
    throw reasonOf(error);
  } finally {
    await rm(path, { force: true });
  }
}

async function fromMedia(deps: ImageDeps, record: MediaRecord, canvas: Size): Promise<NamedImage> {
  if (record.sizeBytes > maxBytes)
    throw new Unusable(`The picture is larger than ${maxBytes} bytes`);
  const open = async (): Promise<Readable> => await deps.storage.open(record);
  const read = async (): Promise<Uint8Array> => (await take(deps, open, canvas)).bytes;
  return { digest: record.checksum, read };
}

async function fromAddress(deps: ImageDeps, address: string, canvas: Size): Promise<NamedImage> {
  const { outbound, limits } = deps;
  const open = async (): Promise<Readable> => {
    const { body } = await outbound.download(address, {
      maxBytes: Math.min(maxBytes, limits.maxBytes),
      totalMs: Math.min(maxSeconds, limits.downloadSeconds) * 1_000,
      idleMs: 10_000,
      isGuarded: true,
    });
    return body;
  };
  // What is there may have changed since the last time, so that its digest is known only after reading.
  const { digest, bytes } = await take(deps, open, canvas);
  return { digest, read: async () => bytes };
}

async function findImage(
  deps: ImageDeps,
  userId: string,
  name: string,
  canvas: Size,
): Promise<NamedImage> {
  if (mediaId.test(name)) {
    const [record] = await findOwnMedia(deps.db, userId, [name]);
    if (!record) throw new Unusable("There is no such media");
    return await fromMedia(deps, record, canvas);
  }
  if (!/^https?:\/\//i.test(name) || !URL.canParse(name))
    throw new Unusable("must be an http or https address, or the id of your media");
  return await fromAddress(deps, name, canvas);
}

/** All of them, or every fault at once. */
async function forEach<Item, Result>(
  items: ReadonlyMap<string, Item>,
  act: (item: Item) => Promise<Result>,
): Promise<Map<string, Result>> {
  const results = new Map<string, Result>();
  const details: ErrorDetail[] = [];
  const attempts = Array.from(items, async ([key, item]) => {
    try {
      results.set(key, await act(item));
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      const { message } = error;
      details.push({ field: `body.config.${key}`, message, code: "invalid_image" });
    }
  });
  await Promise.all(attempts);
  if (details.length > 0)
    throw new AppError("validation_error", "A picture can't be used", { details });
  return results;
}

/** What the keys of a config name: addresses, or media of this user. */
export const findImages = async (
  deps: ImageDeps,
  userId: string,
  names: ReadonlyMap<string, string>,
  canvas: Size,
): Promise<Map<string, NamedImage>> =>
  await forEach(names, async (name) => await findImage(deps, userId, name, canvas));

export const readImages = async (
  images: ReadonlyMap<string, NamedImage>,
): Promise<Map<string, Uint8Array>> => await forEach(images, async (image) => await image.read());
