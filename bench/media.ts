import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres, createPool } from "../src/db/index.ts";
import type { Pool } from "../src/db/index.ts";
import { createFileStorage } from "../src/media/index.ts";
import { migrateAll } from "../src/migrate.ts";
import { testSettings } from "../test/helpers/app.ts";
import { quiet } from "../test/helpers/database.ts";
import { startNginx } from "../test/helpers/nginx.ts";
import { fetchLoad, median, say, startServer } from "./tools.ts";
import type { BenchServer } from "./tools.ts";

// How fast are files served? Node alone, and behind nginx with X-Accel-Redirect, against nginx serving the same files
// by itself: one run, interleaved rounds, ratios of medians. Needs wrk and nginx.

const rounds = 3;
const seconds = 4;
const connections = 8;
const sizes = { "50 kB": 50_000, "5 MB": 5_000_000 };
const questions = [
  { name: "50 kB", size: "50 kB", range: null },
  { name: "5 MB", size: "5 MB", range: null },
  { name: "1 MB range of 5 MB", size: "5 MB", range: "bytes=1000000-1999999" },
] as const;

async function store(
  dataDir: string,
  owner: Pool,
): Promise<Map<string, { id: string; path: string }>> {
  const storage = createFileStorage({ root: join(dataDir, "media", "herald-media") });
  const stored = new Map<string, { id: string; path: string }>();
  for (const [index, [name, sizeBytes]] of Object.entries(sizes).entries()) {
    const id = `bench${String(index).padStart(21, "0")}`;
    const place = { objectPath: `be/${id}`, downloadToken: "token" };
    const path = join(dataDir, id);
    await writeFile(path, randomBytes(sizeBytes));
    await storage.put(place, { path, sizeBytes, contentType: "video/mp4" });
    await owner.query(
      `insert into media (id, user_id, content_type, extension, object_path, download_token, size_bytes, checksum, stored_at)
       values ($1, 'bench', 'video/mp4', 'mp4', $2, 'token', $3, $4, now())`,
      [id, place.objectPath, sizeBytes, randomBytes(32).toString("hex")],
    );
    stored.set(name, { id, path: storage.internalPath?.(place) ?? "" });
  }
  await storage.close();
  return stored;
}

const dir = await mkdtemp(join(tmpdir(), "herald-bench-"));
const dataDir = join(dir, "data");
await mkdir(dataDir);
await chmod(dir, 0o755);
const postgres = await startEmbeddedPostgres({ dataDir: join(dir, "postgres") });
await migrateAll(postgres.url, quiet);
const owner = createPool({ url: postgres.url, name: "bench", size: 1 }, quiet);
const stored = await store(dataDir, owner);
await owner.end();
const settings = { ...testSettings(postgres.url), DATA_DIR: dataDir, RATE_LIMIT_MEDIA_MAX: "0" };
const servers: BenchServer[] = [];
const start = async (delivery: string): Promise<string> => {
  const log = join(dir, `${delivery}.log`);
  const server = await startServer(
    "../src/server.ts",
    { ...settings, MEDIA_DELIVERY: delivery },
    log,
  );
  servers.push(server);
  return server.address;
};
try {
  const alone = await start("stream");
  const nginx = await startNginx(dir, dataDir, new URL(await start("accel")).port);
  try {
    say(
      `media: ${cpus().length} x ${cpus()[0]?.model ?? "cpu"}, Node ${process.version}, medians of ${rounds} rounds of ${seconds} s, ${connections} connections`,
    );
    for (const { name, size, range } of questions) {
      const { id = "", path = "" } = stored.get(size) ?? {};
      const ways = {
        nginx: `${nginx.bare}/${path}`,
        node: `${alone}/media/${id}.mp4`,
        accel: `${nginx.front}/media/${id}.mp4`,
      };
      const figures: Record<string, number[]> = { nginx: [], node: [], accel: [] };
      for (let round = 0; round <= rounds; round++) {
        for (const [way, address] of Object.entries(ways)) {
          const perSecond = await fetchLoad(address, { connections, seconds, range });
          if (round > 0) figures[way]?.push(perSecond);
        }
      }
      const of = (way: string): number => median(figures[way] ?? []);
      say(
        `  ${name}: nginx ${of("nginx")}/s, Node alone ${of("node")}/s = ${(of("node") / of("nginx")).toFixed(2)}, X-Accel-Redirect ${of("accel")}/s = ${(of("accel") / of("nginx")).toFixed(2)}`,
      );
    }
  } finally {
    await nginx.stop();
  }
} finally {
  await Promise.all(servers.map(async (each) => await each.stop()));
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
