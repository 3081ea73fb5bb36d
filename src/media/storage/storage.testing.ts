import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after } from "node:test";
import { promisify } from "node:util";
import type { PutOrder, PutReport } from "./put.fixture.ts";
import type { LocalFile, Place } from "./storage.ts";

const run = promisify(execFile);

/** A folder that is gone when the tests are over. */
export async function testFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "herald-storage-"));
  after(async () => await rm(dir, { recursive: true, force: true }));
  return dir;
}

export function newPlace(): Place {
  const id = randomBytes(13).toString("hex");
  return {
    objectPath: `${id.slice(0, 2)}/${id}`,
    downloadToken: randomBytes(24).toString("base64url"),
  };
}

export async function newFile(dir: string, bytes: Buffer): Promise<LocalFile> {
  const path = join(dir, randomBytes(8).toString("hex"));
  await writeFile(path, bytes);
  return { path, sizeBytes: bytes.length, contentType: "video/mp4" };
}

/** A file of this size that takes no place on the disk. */
export async function newHollowFile(dir: string, sizeBytes: number): Promise<LocalFile> {
  const file = await newFile(dir, Buffer.alloc(0));
  await truncate(file.path, sizeBytes);
  return { ...file, sizeBytes };
}

export async function checksumOf(source: Readable): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(source, digest);
  return digest.digest("hex");
}

export const fileChecksum = async (path: string): Promise<string> =>
  await checksumOf(createReadStream(path));

const command = (order: PutOrder): string[] => [
  process.execPath,
  new URL("put.fixture.ts", import.meta.url).pathname,
  JSON.stringify(order),
];

/** Stores a file from a process of its own, which tells what came of it. */
export async function putElsewhere(order: PutOrder): Promise<PutReport> {
  const [node = "", ...rest] = command(order);
  const { stdout } = await run(node, rest);
  return JSON.parse(stdout) as PutReport;
}

/** The same, where the storage's root is a disk of this size: one that only this process sees and that ends with it. */
export async function putOnSmallDisk(
  order: PutOrder & { root: string },
  megabytes: number,
): Promise<PutReport> {
  const script = `mount -t tmpfs -o size=${megabytes}m tmpfs "$1" && shift && exec "$@"`;
  const { stdout } = await run("unshare", [
    "-rm",
    "sh",
    "-c",
    script,
    "sh",
    order.root,
    ...command(order),
  ]);
  return JSON.parse(stdout) as PutReport;
}

/** Why disks can't be made here, or false. */
export async function diskIsMissing(): Promise<string | false> {
  const dir = await mkdtemp(join(tmpdir(), "herald-disk-"));
  try {
    await run("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", dir]);
    return false;
  } catch (error) {
    return `no disk can be mounted here: ${String(error)}`;
  } finally {
    await rm(dir, { recursive: true });
  }
}
