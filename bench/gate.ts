import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createPool, startEmbeddedPostgres } from "../src/db/index.ts";
import { migrateAll } from "../src/migrate.ts";
import { testSettings } from "../test/helpers/app.ts";
import { quiet } from "../test/helpers/database.ts";
import { createUsers, load, median, pgbench, say, startServer, writeWrkScript } from "./tools.ts";
import type { BenchServer, Load } from "./tools.ts";

// How much of a route's speed is left behind the whole gate? One run, interleaved rounds, medians. Needs wrk and pgbench.

const keys = 20_000;
const rounds = 5;
const seconds = 4;
const modes = ["batched", "single", "none"] as const;
type Mode = (typeof modes)[number];

const gateCall = `\\set i random(1, ${keys})
select * from gate_many(array[encode(sha256(('sk_bench_' || :i)::bytea), 'hex')], array[null::text], array['127.0.0.1'],
  array['POST /v1/bench'], array[30], 60000, array[35, 90, 200, 700], array[60000, 60000, 60000, 60000], '{}');
`;

async function prepare(dir: string, url: string): Promise<void> {
  await migrateAll(url, quiet);
  const owner = createPool({ url, name: "bench", size: 1, statementTimeoutMs: 60_000 }, quiet);
  await createUsers(owner, keys);
  await owner.query("analyze");
  await owner.end();
  const body = `{"text":"${"x".repeat(340)}","platforms":["linkedin","x"],"draft":false}`;
  await writeWrkScript(dir, { keys, path: "/v1/bench", body });
  await writeFile(join(dir, "gate.sql"), gateCall);
}

const dir = await mkdtemp(join(tmpdir(), "herald-bench-"));
const postgres = await startEmbeddedPostgres({ dataDir: join(dir, "postgres") });
try {
  await prepare(dir, postgres.url);
  const servers = new Map<Mode, BenchServer>();
  try {
    for (const mode of modes) {
      const settings = { ...testSettings(postgres.url), BENCH_GATE: mode };
      servers.set(mode, await startServer("gate-server.ts", settings, join(dir, `${mode}.log`)));
    }
    const owner = createPool({ url: postgres.url, name: "bench", size: 1 }, quiet);
    const fresh = async (): Promise<void> =>
      void (await owner.query("truncate rate_limit_windows"));
    const results = new Map<string, Load[]>();
    const tps: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      for (const connections of [1, 32]) {
        for (const mode of modes) {
          await fresh();
          const result = await load(dir, servers.get(mode)?.address ?? "", connections, seconds);
          // The first round warms up and is not counted.
          if (round > 0)
            results.set(`${mode} ${connections}`, [
              ...(results.get(`${mode} ${connections}`) ?? []),
              result,
            ]);
        }
      }
      await fresh();
      const rate = await pgbench(join(dir, "gate.sql"), postgres.url, 16, seconds);
      if (round > 0) tps.push(rate);
    }
    await owner.end();
    const of = (name: string, fact: "perSecond" | "p50" | "p99"): number =>
      median((results.get(name) ?? []).map((result) => result[fact]));
    say(
      `gate: ${cpus().length} x ${cpus()[0]?.model ?? "cpu"}, Node ${process.version}, medians of ${rounds} rounds of ${seconds} s`,
    );
    for (const name of results.keys()) {
      say(
        `  ${name.padEnd(12)} ${of(name, "perSecond")} requests/s, p50 ${of(name, "p50")} us, p99 ${of(name, "p99")} us`,
      );
    }
    say(`  pgbench 16   ${Math.round(median(tps))} calls/s`);
    say(
      `  32 connections: batched / none = ${(of("batched 32", "perSecond") / of("none 32", "perSecond")).toFixed(2)}`,
    );
    say(
      `  32 connections: batched / pgbench = ${(of("batched 32", "perSecond") / median(tps)).toFixed(2)}`,
    );
    say(
      `  1 connection: p50 batched / single = ${(of("batched 1", "p50") / of("single 1", "p50")).toFixed(2)}`,
    );
  } finally {
    await Promise.all([...servers.values()].map(async (each) => await each.stop()));
  }
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
