// Stores one file in a process of its own, for tests about memory and full disks. Started by storage.testing.ts.
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { createFileStorage, createS3Storage } from "./index.ts";
import type { S3Options } from "./s3.ts";
import { checksumOf, newPlace } from "./storage.testing.ts";
import type { LocalFile } from "./storage.ts";

export interface PutOrder {
  file: LocalFile;
  root?: string;
  s3?: S3Options;
}

export interface PutReport {
  /** The code of the error, or null. */
  failure: string | null;
  /** Of what can be read afterwards. */
  checksum: string | null;
  isSourceThere: boolean;
  /** Files below the root. */
  files: string[];
  /** By how much memory grew at its highest. */
  grownBytes: number;
}

const { file, root, s3 } = JSON.parse(process.argv[2] ?? "") as PutOrder;
const storage = s3 ? createS3Storage(s3) : createFileStorage({ root: root ?? "" });

// Loads and connects everything, which is not what is measured.
const first = newPlace();
const small = { ...file, path: `${file.path}.first`, sizeBytes: 1 };
await writeFile(small.path, "1");
await storage.put(first, small);
await storage.remove(first);

const before = process.memoryUsage.rss();
const place = newPlace();
const failure = await storage.put(place, file).then(
  () => null,
  (error: NodeJS.ErrnoException) => error.code ?? String(error),
);
const grownBytes = process.resourceUsage().maxRSS * 1024 - before;

const entries = root ? await readdir(root, { recursive: true, withFileTypes: true }) : [];
const report: PutReport = {
  failure,
  checksum: failure === null ? await checksumOf(await storage.open(place)) : null,
  isSourceThere: existsSync(file.path),
  files: entries.filter((entry) => entry.isFile()).map(({ name }) => name),
  grownBytes,
};
await storage.close();
process.stdout.write(JSON.stringify(report));
