import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Logger } from "pino";
import type { Db, Pool } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { OutboundError } from "../outbound/index.ts";
import type { Outbound } from "../outbound/index.ts";
import { inspect } from "./inspect.ts";
import type { Facts } from "./inspect.ts";
import { beginMedia, dropUnfinished, finishMedia } from "./queries.ts";
import type { NewMedia } from "./queries.ts";
import { TooLarge, receive } from "./receive.ts";
import { directLink } from "./share-links.ts";
import type { Storage } from "./storage/index.ts";

export interface IngestDeps {
  db: Pool;
  log: Logger;
  storage: Storage;
  outbound: Pick<Outbound, "download">;
  limits: {
    /** Where files are received, on this machine. */
    incomingDir: string;
    maxBytes: number;
    downloadSeconds: number;
  };
}

export interface Owner {
  userId: string;
  keyId?: string;
}

/** Stored, and not yet there for others: that is for `finish`, in the transaction of the answer. */
export interface Ingested extends Pick<NewMedia, "id" | "contentType" | "extension" | "sizeBytes"> {
  finish(tx: Db): Promise<void>;
  /** Instead: takes it out again. */
  discard(): Promise<void>;
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
const idleMs = 20_000;

/** 26 characters, 130 random bits. */
const newId = (): string => Array.from(randomBytes(26), (byte) => alphabet[byte & 31]).join("");

const failed = (reason: string, cause?: unknown): AppError =>
  new AppError("upload_failed", reason, { cause });

function reasonOf(error: unknown, maxBytes: number): AppError {
  if (error instanceof AppError) return error;
  if (
    error instanceof TooLarge ||
    (error instanceof OutboundError && error.failure === "too_large")
  )
    return failed(`The file is larger than ${maxBytes} bytes`, error);
  if (error instanceof OutboundError)
    return failed(`The file could not be downloaded: ${error.message}`, error);
  return failed("The file could not be stored", error);
}

export interface Origin {
  /** Where it was downloaded from. */
  url?: string | null;
  /** Of what we made ourselves; everything else is looked at. */
  facts?: Facts;
}

/** Takes a stream of bytes into the storage. On failure nothing of it is left. */
export async function ingest(
  { db, log, storage, limits }: IngestDeps,
  source: Readable,
  owner: Owner,
  { url = null, facts: known }: Origin = {},
): Promise<Ingested> {
  const id = newId();
  const path = join(limits.incomingDir, id);
  try {
    const { sizeBytes, checksum } = await receive(source, path, limits.maxBytes);
    if (sizeBytes === 0) throw failed("The file is empty");
    const facts = known ?? (await inspect(path, sizeBytes));
    const media: NewMedia = {
      id,
      userId: owner.userId,
      keyHash: owner.keyId ?? null,
      url,
      ...facts,
      sizeBytes,
      checksum,
      objectPath: `${id.slice(0, 2)}/${id}`,
      downloadToken: randomBytes(24).toString("base64url"),
    };
    const discard = async (): Promise<void> => {
      await storage.remove(media);
      await dropUnfinished(db, id);
    };
    await beginMedia(db, media);
    try {
      await storage.put(media, { path, sizeBytes, contentType: media.contentType });
    } catch (error) {
      await discard();
      throw error;
    }
    const finish = async (tx: Db): Promise<void> => {
      if (!(await finishMedia(tx, id))) throw failed("The file took too long to be stored");
    };
    return { ...media, finish, discard };
  } catch (error) {
    if (
      !(error instanceof OutboundError) &&
      !(error instanceof AppError) &&
      !(error instanceof TooLarge)
    )
      log.error({ err: error, mediaId: id }, "a file could not be stored");
    throw reasonOf(error, limits.maxBytes);
  } finally {
    await rm(path, { force: true });
  }
}

/** Downloads a file from where a user says it is. */
export async function ingestFrom(
  deps: IngestDeps,
  address: string,
  owner: Owner,
): Promise<Ingested> {
  const { maxBytes, downloadSeconds } = deps.limits;
  const download = await deps.outbound
    .download(directLink(address), {
      maxBytes,
      totalMs: downloadSeconds * 1_000,
      idleMs,
      isGuarded: true,
    })
    .catch((error: unknown) => {
      throw reasonOf(error, maxBytes);
    });
  return await ingest(deps, download.body, owner, { url: address });
}
