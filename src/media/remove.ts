import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { inTransaction, isForeignKeyViolation } from "../db/index.ts";
import type { Db, Pool } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { defineTask, enqueue } from "../jobs/index.ts";
import { deleteMedia, deleteUnfinished } from "./queries.ts";
import type { Storage } from "./storage/index.ts";
import { deleteOldSlots } from "./upload-slots.ts";

const place = z.object({ objectPath: z.string(), downloadToken: z.string() });
const removal = { name: "media.remove", payload: place } as const;

/** Takes an object out of the storage, once nothing in the database leads to it any more. */
export function removeTask(storage: Storage) {
  return defineTask({
    ...removal,
    async run(object) {
      await storage.remove(object);
    },
  });
}

export interface RemoveDeps {
  db: Pool;
  /** Forgets posts that needed the file and need it no more. */
  releaseMedia(tx: Db, mediaId: string): Promise<void>;
}

/** The record goes now, the object by a job: neither is left behind if we die in between. */
export async function removeMedia(
  { db, releaseMedia }: RemoveDeps,
  userId: string,
  id: string,
): Promise<void> {
  try {
    await inTransaction(db, async (tx) => {
      await releaseMedia(tx, id);
      const object = await deleteMedia(tx, userId, id);
      if (!object) throw new AppError("not_found", "There is no such media");
      await enqueue(tx, removal, place.parse(object));
    });
  } catch (error) {
    if (!isForeignKeyViolation(error, "media_needs_media_id_fkey")) throw error;
    throw new AppError("validation_error", "A post that waits needs this file", {
      details: [{ field: "params.id", message: "is needed by a post that waits", code: "in_use" }],
      cause: error,
    });
  }
}

const staleMs = 2 * 60 * 60 * 1_000;

/** Files that a process began to receive before it died. */
export async function removeStaleFiles(incomingDir: string): Promise<void> {
  const names = await readdir(incomingDir).catch(() => []);
  for (const name of names) {
    const path = join(incomingDir, name);
    const facts = await stat(path).catch(() => null);
    if (facts && Date.now() - facts.mtimeMs > staleMs) await rm(path, { force: true });
  }
}

/** What processes that died left behind. */
export function cleanUpMediaTask({ db, incomingDir }: { db: Pool; incomingDir: string }) {
  return defineTask({
    name: "media.cleanUp",
    payload: z.looseObject({}),
    async run(_payload, { log }) {
      await inTransaction(db, async (tx) => {
        const unfinished = await deleteUnfinished(tx);
        for (const object of unfinished) await enqueue(tx, removal, place.parse(object));
        if (unfinished.length > 0)
          log.info({ removed: unfinished.length }, "unfinished media removed");
      });
      await deleteOldSlots(db);
      await removeStaleFiles(incomingDir);
    },
  });
}
