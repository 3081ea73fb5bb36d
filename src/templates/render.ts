import { hash } from "node:crypto";
import { Readable } from "node:stream";
import { inTransaction } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { validate } from "../http/index.ts";
import type { Caller } from "../http/index.ts";
import { ingest } from "../media/index.ts";
import type { IngestDeps } from "../media/index.ts";
import type { PictureConfig } from "./draw.ts";
import { findImages, readImages } from "./images.ts";
import { findPicture, savePicture } from "./queries.ts";
import type { Studio } from "./studio.ts";
import { ratios } from "./template.ts";
import type { Ratio, Template } from "./template.ts";

export interface RenderDeps extends IngestDeps {
  studio: Studio;
}

export interface Order {
  template: Template;
  /** As the caller wrote it. */
  config: unknown;
  ratio: Ratio;
}

async function check(studio: Studio, { template, config }: Order): Promise<PictureConfig> {
  const checked = validate(template.config, config, "body.config");
  const details = await studio.findFaults(template, checked);
  if (details.length > 0)
    throw new AppError("validation_error", "A text can't be drawn", { details });
  return checked;
}

function namesIn({ images }: Template, config: PictureConfig): Map<string, string> {
  const named = images.flatMap((key) => {
    const value = config[key];
    return typeof value === "string" && value !== "" ? [[key, value] as const] : [];
  });
  return new Map(named);
}

/** Stores a PNG as a file of the user. Returns its id, or that of the one that another request stored meanwhile. */
async function store(
  deps: RenderDeps,
  caller: Caller,
  inputHash: string,
  { png, ratio }: { png: Buffer; ratio: Ratio },
): Promise<string> {
  const facts = { contentType: "image/png", extension: "png", ...ratios[ratio], durationMs: null };
  const stored = await ingest(deps, Readable.from([png]), caller, { facts });
  try {
    const id = await inTransaction(deps.db, async (tx) => {
      const first = await savePicture(tx, caller.userId, inputHash, stored.id);
      if (first === stored.id) await stored.finish(tx);
      return first;
    });
    if (id !== stored.id) await stored.discard();
    return id;
  } catch (error) {
    await stored.discard();
    throw error;
  }
}

/** The id of the file that holds the picture. The same input is drawn once per user, as long as its file is kept. */
export async function renderPicture(
  deps: RenderDeps,
  caller: Caller,
  order: Order,
): Promise<string> {
  const { db, studio } = deps;
  const { template, ratio } = order;
  const config = await check(studio, order);
  const names = namesIn(template, config);
  const found = await findImages(deps, caller.userId, names, ratios[ratio]);
  // What a picture shows counts, not where it lies. The schema has put the keys in their order.
  const digests = Array.from(found, ([key, { digest }]) => [key, digest] as const);
  const shown = { ...config, ...Object.fromEntries(digests) };
  const input = JSON.stringify([template.slug, template.version, ratio, shown]);
  const inputHash = hash("sha256", input);
  const drawn = await findPicture(db, caller.userId, inputHash);
  if (drawn !== undefined) return drawn;
  const images = await readImages(found);
  const byName = new Map(Array.from(images, ([key, bytes]) => [names.get(key) ?? "", bytes]));
  const png = await studio.draw(template, config, ratio, byName);
  return await store(deps, caller, inputHash, { png, ratio });
}
