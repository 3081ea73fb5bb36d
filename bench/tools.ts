import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Pool } from "../src/db/index.ts";

const run = promisify(execFile);

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export interface Load {
  perSecond: number;
  p50: number;
  p99: number;
}

/** Users `user1`..., each with a key `sk_bench_<n>` and an active subscription. */
export async function createUsers(owner: Pool, count: number): Promise<void> {
  await owner.query(
    `insert into api_keys (id, user_id, last_four)
     select encode(sha256(('sk_bench_' || i)::bytea), 'hex'), 'user' || i, 'abcd' from generate_series(1, $1) i`,
    [count],
  );
  await owner.query(
    `insert into subscriptions (user_id, customer_id, subscription_id, status, plan_id, price_id, current_period_start,
       current_period_end)
     select 'user' || i, 'c', 's' || i, 'active', 'pro', 'p', now(), now() + interval '1 day' from generate_series(1, $1) i`,
    [count],
  );
}

export interface BenchServer {
  address: string;
  stop(): Promise<void>;
}

/** Its log goes to a file, as in production: a test that reads every line would take the cores it measures with. */
export async function startServer(
  entry: string,
  settings: Record<string, string>,
  logFile: string,
): Promise<BenchServer> {
  const log = await open(logFile, "a");
  const child = spawn(process.execPath, [new URL(entry, import.meta.url).pathname], {
    env: { PATH: process.env["PATH"], ...settings, LOG_LEVEL: "info", PORT: "0" },
    stdio: ["ignore", log.fd, "inherit"],
  });
  await log.close();
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  const deadline = performance.now() + 20_000;
  while (performance.now() < deadline && child.exitCode === null) {
    const address = /"address":"([^"]+)"/.exec(await readFile(logFile, "utf8"))?.[1];
    if (address) return { address, stop };
    await pause(50);
  }
  await stop();
  throw new Error(`${entry} did not come up`);
}

/** A POST of the same body with one key after the other. */
export async function writeWrkScript(
  dir: string,
  options: { keys: number; path: string; body: string },
): Promise<void> {
  const names = Array.from({ length: options.keys }, (_, i) => `sk_bench_${i + 1}`);
  await writeFile(join(dir, "keys.txt"), `${names.join("\n")}\n`);
  await writeFile(
    join(dir, "wrk.lua"),
    `local body = [[${options.body}]]
local keys = {}
for line in io.lines(os.getenv("BENCH_KEYS")) do keys[#keys + 1] = line end
math.randomseed(os.time())
local i = math.random(1, #keys)
request = function()
  i = i % #keys + 1
  return wrk.format("POST", "${options.path}", {["content-type"] = "application/json", ["svc-api-key"] = keys[i]}, body)
end
function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %d\\n", summary.requests / (summary.duration / 1e6), latency:percentile(50),
    latency:percentile(99), summary.errors.status + summary.errors.read + summary.errors.timeout))
end`,
  );
}

export async function load(
  dir: string,
  address: string,
  connections: number,
  seconds: number,
): Promise<Load> {
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

/** GETs of one address per second, each of which must be answered with 200, or 206 for a range. */
export async function fetchLoad(
  address: string,
  { connections, seconds, range }: { connections: number; seconds: number; range: string | null },
): Promise<number> {
  const first = await fetch(address, range ? { headers: { range } } : {});
  await first.arrayBuffer();
  if (first.status !== (range ? 206 : 200)) throw new Error(`${address} answered ${first.status}`);
  const { stdout } = await run("wrk", [
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    ...(range ? ["-H", `Range: ${range}`] : []),
    address,
  ]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  return Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]));
}

/** Transactions per second of a script, each client one call at a time. */
export async function pgbench(
  script: string,
  url: string,
  clients: number,
  seconds: number,
): Promise<number> {
  const settings = [
    "-n",
    "-M",
    "prepared",
    "-j",
    "1",
    "-c",
    String(clients),
    "-T",
    String(seconds),
  ];
  const { stdout } = await run("pgbench", [...settings, "-f", script, url]);
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}
