import { execFile } from "node:child_process";

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createPool, startEmbeddedPostgres } from "../src/db/index.ts";
import { migrateAll } from "../src/migrate.ts";
import { testSettings } from "../test/helpers/app.ts";
import { quiet } from "../test/helpers/database.ts";
import { startProcess } from "../test/helpers/processes.ts";

// How much of a route's speed is left behind the whole gate? One run, interleaved rounds, medians. Needs wrk and pgbench.

const run = promisify(execFile);
const keys = 20_000;
const rounds = 5;
const seconds = 4;
const modes = ["batched", "single", "none"] as const;
type Mode = (typeof modes)[number];

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const wrkScript = `
local i = math.random(1, ${keys})
local body = '{"text":"' .. string.rep("x", 340) .. '","platforms":["linkedin","x"],"draft":false}'
local keys = {}
for line in io.lines(os.getenv("BENCH_KEYS")) do keys[#keys + 1] = line end
request = function()
  i = i % #keys + 1
  return wrk.format("POST", "/v1/bench", {["content-type"] = "application/json", ["svc-api-key"] = keys[i]}, body)
end
local threads = {}
function setup(thread) table.insert(threads, thread) end
function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %d\\n", summary.requests / (summary.duration / 1e6), latency:percentile(50),
    latency:percentile(99), summary.errors.status + summary.errors.read + summary.errors.timeout))
end`;

const gateCall = `\\set i random(1, ${keys})
select * from gate_many(array[encode(sha256(('sk_bench_' || :i)::bytea), 'hex')], array[null::text], array['127.0.0.1'],
  array['POST /v1/bench'], array[30], 60000, array[35, 90, 200, 700], array[60000, 60000, 60000, 60000], '{}');
`;

async function prepare(dir: string, url: string): Promise<void> {
  await migrateAll(url, quiet);
  const owner = createPool({ url, name: "bench", size: 1, statementTimeoutMs: 60_000 }, quiet);
  await owner.query(
    `insert into api_keys (id, user_id, last_four)
     select encode(sha256(('sk_bench_' || i)::bytea), 'hex'), 'user' || i, 'abcd' from generate_series(1, $1) i`,
    [keys],
  );
  await owner.query(
    `insert into subscriptions (user_id, customer_id, subscription_id, status, plan_id, price_id, current_period_start,
       current_period_end)
     select 'user' || i, 'c', 's' || i, 'active', 'pro', 'p', now(), now() + interval '1 day' from generate_series(1, $1) i`,
    [keys],
  );
  await owner.query("analyze");
  await owner.end();
  const names = Array.from({ length: keys }, (_, i) => `sk_bench_${i + 1}`);

  await writeFile(join(dir, "keys.txt"), `${names.join("\n")}\n`);
  await writeFile(join(dir, "wrk.lua"), wrkScript);
  await writeFile(join(dir, "gate.sql"), gateCall);
}

async function load(dir: string, address: string, connections: number) {
  const { stdout } = await run(
    "wrk",
    ["-t1", `-c${connections}`, `-d${seconds}s`, "--latency", "-s", join(dir, "wrk.lua"), address],
    { env: { ...process.env, BENCH_KEYS: join(dir, "keys.txt") } },
  );
  const [, perSecond = 0, p50 = 0, p99 = 0, errors = 0] = (
    /RESULT (\d+) (\d+) (\d+) (\d+)/.exec(stdout) ?? []
  ).map(Number);
  if (errors > 0) throw new Error(`${errors} of the requests were not answered with 200`);
  return { perSecond, p50, p99 };
}

async function pgbench(dir: string, url: string, clients: number): Promise<number> {
  const { stdout } = await run("pgbench", [
    "-n",
    "-M",
    "prepared",
    "-c",
    String(clients),
    "-j",
    "1",
    "-T",
    String(seconds),
    "-f",
    join(dir, "gate.sql"),
    url,
  ]);
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}

const dir = await mkdtemp(join(tmpdir(), "herald-bench-"));
const postgres = await startEmbeddedPostgres({ dataDir: join(dir, "postgres") });
try {
  await prepare(dir, postgres.url);
  const settings = { ...testSettings(postgres.url), LOG_LEVEL: "info", PORT: "0" };
  const servers = new Map<Mode, string>();
  const processes = modes.map((mode) => ({
    mode,
    ...startProcess("bench/gate-server.ts", { ...settings, BENCH_GATE: mode }),
  }));
  try {
    for (const { mode, line } of processes)
      servers.set(mode, String((await line("listening"))["address"]));
    const owner = createPool({ url: postgres.url, name: "bench", size: 1 }, quiet);
    const fresh = async (): Promise<void> =>
      void (await owner.query("truncate rate_limit_windows"));
    const results = new Map<string, { perSecond: number; p50: number; p99: number }[]>();
    const tps: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      for (const connections of [1, 32]) {
        for (const mode of modes) {
          await fresh();
          const result = await load(dir, servers.get(mode) ?? "", connections);
          // The first round warms up and is not counted.
          if (round > 0)
            results.set(`${mode} ${connections}`, [
              ...(results.get(`${mode} ${connections}`) ?? []),
              result,
            ]);
        }
      }
      await fresh();
      const rate = await pgbench(dir, postgres.url, 16);
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
    await Promise.all(processes.map(async (each) => await each.stop()));
  }
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
