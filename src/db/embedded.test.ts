import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { startEmbeddedPostgres } from "./embedded.ts";
import type { EmbeddedPostgres } from "./embedded.ts";

let base: string;
let dataDir: string;

before(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "herald-embedded-")));
  dataDir = join(base, "data");
  await (await startEmbeddedPostgres({ dataDir })).stop();
});

after(async () => {
  await rm(base, { recursive: true, force: true });
});

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function until(claim: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await claim())) {
    assert.ok(Date.now() < deadline, `not within 10 s: ${claim.toString()}`);
    await delay(5);
  }
}

/** A process that has ended keeps its id until its parent takes notice, but not its command line. */
async function isRunning(pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return commandLine !== "";
}

/** A process of its own that starts the server, says its process id and then waits to be killed. */
function spawnStarter(folder: string) {
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL("embedded.ts", import.meta.url))};
    const { pid } = await startEmbeddedPostgres({ dataDir: process.argv[1] });
    process.stdout.write(String(pid));
    process.stdin.resume();`;
  return spawn(process.execPath, ["--input-type=module", "-e", program, folder], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
}

async function startAndKillStarter(kill: (starterPid: number) => void): Promise<number> {
  const starter = spawnStarter(dataDir);
  const [pid] = (await once(starter.stdout, "data")) as [Buffer];
  const exit = once(starter, "exit");
  assert.ok(starter.pid !== undefined);
  kill(starter.pid);
  await exit;
  return Number(pid.toString());
}

test("a new data folder gets a durable, checksummed, Unicode-aware database of the owner", async (t) => {
  const server = await startEmbeddedPostgres({ dataDir });
  t.after(() => server.stop());
  const facts = await query(
    server.url,
    `select concat_ws(' ', current_user, datname, pg_get_userbyid(datdba), datlocprovider, datlocale,
       pg_encoding_to_char(encoding), lower('ÉΩ'), current_setting('fsync'), current_setting('data_checksums'),
       current_setting('max_connections'), quote_literal(current_setting('listen_addresses'))) as facts
     from pg_database where datname = current_database()`,
  );
  assert.deepEqual(facts, [{ facts: "herald herald herald b C.UTF-8 UTF8 éω on on 200 ''" }]);
});

test("rows survive a stop and a start, and a warm start takes less than a second", async (t) => {
  const first = await startEmbeddedPostgres({ dataDir });
  await query(first.url, "create table kept as select 7 as n");
  await first.stop();
  const startedAt = performance.now();
  const second = await startEmbeddedPostgres({ dataDir });
  t.after(() => second.stop());
  const tookMs = Math.round(performance.now() - startedAt);
  t.diagnostic(`warm start: ${tookMs} ms`);
  assert.ok(tookMs < 1000);
  assert.deepEqual(await query(second.url, "select n from kept"), [{ n: 7 }]);
});

test("stop leaves no process and no socket, and may be called twice", async () => {
  const server = await startEmbeddedPostgres({ dataDir });
  const children = await query(server.url, "select pid from pg_stat_activity");
  await Promise.all([server.stop(), server.stop()]);
  const pids = [server.pid, ...children.map((row) => Number(row["pid"]))];
  assert.ok(pids.length > 4);
  assert.deepEqual(
    await Promise.all(pids.map(isRunning)),
    pids.map(() => false),
  );
  const left = (await readdir(server.socketDir)).filter((name) => /^\.s\.|\.pid$/.test(name));
  assert.deepEqual(left, []);
});

test("a server whose starter was killed is taken over", async () => {
  const pid = await startAndKillStarter((starter) => process.kill(starter, "SIGKILL"));
  const server = await startEmbeddedPostgres({ dataDir });
  assert.equal(server.pid, pid);
  assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
  await server.stop();
  assert.equal(await isRunning(pid), false);
});

test("Ctrl-C in the starter's terminal does not reach the server", async () => {
  const pid = await startAndKillStarter((starter) => process.kill(-starter, "SIGINT"));
  const server = await startEmbeddedPostgres({ dataDir });
  await server.stop();
  assert.equal(server.pid, pid);
});

test("a second start is refused while the first one lives, and does the first no harm", async (t) => {
  const server = await startEmbeddedPostgres({ dataDir });
  t.after(() => server.stop());
  await assert.rejects(startEmbeddedPostgres({ dataDir }), /Another Herald is running/);
  assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
});

test("of two first starts at the same time one serves and the other is refused", async () => {
  const folder = join(base, "contended");
  const starts = [1, 2].map(() => startEmbeddedPostgres({ dataDir: folder }));
  const results = await Promise.allSettled(starts);
  const servers = results.flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  await Promise.all(servers.map((server) => server.stop()));
  const reasons = results.flatMap((result) =>
    result.status === "rejected" ? [String(result.reason)] : [],
  );
  assert.equal(servers.length, 1, reasons.join("\n"));
  assert.match(reasons.join(), /Another Herald is running/);
  assert.deepEqual((await readdir(folder)).sort(), ["postgres", "postgres.log"]);
});

async function startAndKillServer(sql: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir });
  await query(server.url, sql);
  process.kill(server.pid, "SIGKILL");
  await until(async () => !(await isRunning(server.pid)));
  return server;
}

test("committed rows survive kill -9 of the server, and the next start recovers by itself", async (t) => {
  const killed = await startAndKillServer(
    "create table committed as select generate_series(1, 500)",
  );
  const server = await startEmbeddedPostgres({ dataDir });
  t.after(() => server.stop());
  assert.notEqual(server.pid, killed.pid);
  assert.deepEqual(await query(server.url, "select count(*)::int from committed"), [
    { count: 500 },
  ]);
  await killed.stop();
  assert.ok(
    await isRunning(server.pid),
    "the stop of the killed server must not touch its successor",
  );
});

test("a lock file whose process id has passed to another program does not stop the start", async (t) => {
  const { socketDir } = await startAndKillServer("select 1");
  const { uid, gid } = await stat(socketDir);
  const stranger = spawn("sleep", ["60"], process.getuid?.() === 0 ? { uid, gid } : {});
  t.after(() => stranger.kill());
  for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock"]) {
    const path = join(socketDir, name);
    await writeFile(path, (await readFile(path, "utf8")).replace(/^\d+/, String(stranger.pid)));
  }
  const server = await startEmbeddedPostgres({ dataDir });
  await server.stop();
  assert.notEqual(server.pid, stranger.pid);
  assert.equal(stranger.exitCode, null);
});

test("a start killed in the middle of initdb is made good by the next", async () => {
  const folder = join(base, "half-made");
  const starter = spawnStarter(folder);
  const exit = once(starter, "exit");
  const halfMade = /^postgres-draft-[^/]+\/base\/1$/;
  await until(async () => {
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    return names.some((name) => halfMade.test(name));
  });
  starter.kill("SIGKILL");
  await exit;
  const server = await startEmbeddedPostgres({ dataDir: folder });
  assert.deepEqual(await query(server.url, "select current_database()::text as name"), [
    { name: "herald" },
  ]);
  await server.stop();
  assert.deepEqual((await readdir(folder)).sort(), ["postgres", "postgres.log"]);
});

test("a server that does not start shows the end of its log and the way out", async () => {
  await assert.rejects(
    startEmbeddedPostgres({ dataDir, settings: { shared_buffers: "plenty" } }),
    /invalid value for parameter "shared_buffers": "plenty"[^]*DATABASE_URL/,
  );
});

test("a log over 8 MiB is put aside at the start, and the server goes on writing to an empty one", async () => {
  const path = join(dataDir, "postgres.log");
  await writeFile(path, "x".repeat(9 * 1024 * 1024));
  const server = await startEmbeddedPostgres({ dataDir });
  await until(async () => (await stat(path)).size < 1024 * 1024);
  await server.stop();
  assert.match(await readFile(path, "utf8"), /database system is shut down\n$/);
  assert.ok((await stat(`${path}.1`)).size > 8 * 1024 * 1024);
});

test("over TCP, when that is asked for, only a role with a password gets in", async (t) => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  const settings = { listen_addresses: "127.0.0.1", port: String(port) };
  const server = await startEmbeddedPostgres({ dataDir, settings });
  t.after(() => server.stop());
  assert.equal(server.port, port);
  await assert.rejects(query(`postgresql://herald:@127.0.0.1:${port}/herald`, "select 1"));
  await query(server.url, "alter role herald password 'open sesame'");
  const url = `postgresql://herald:open%20sesame@127.0.0.1:${port}/herald`;
  assert.deepEqual(await query(url, "select 1 as one"), [{ one: 1 }]);
});
