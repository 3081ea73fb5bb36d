import { copyFile, lstat, readlink, rm, stat, symlink, truncate } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import type { Logger } from "pino";
import { cannotRun, hasCode, shortHash } from "./embedded-binaries.ts";
import { ensureCluster, locateCluster, owner } from "./embedded-cluster.ts";
import { bringUp, markOf, stopPostmaster } from "./embedded-postmaster.ts";

/** A PostgreSQL server of our own, on a Unix socket that no other user can reach. */
export interface EmbeddedPostgres {
  url: string;
  socketDir: string;
  port: number;
  pid: number;
  /** Fast shutdown; resolves when the server is gone. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  log?: Pick<Logger, "info" | "warn">;
  /** More server settings. Over TCP (`listen_addresses`) a role needs a password; the owner has none at first. */
  settings?: Record<string, string>;
}

const defaults = {
  listen_addresses: "",
  unix_socket_directories: ".",
  unix_socket_permissions: "0700",
  port: "5432",
  max_connections: "200",
  shared_buffers: "128MB",
  fsync: "on",
  ssl: "off",
  jit: "off",
  random_page_cost: "1.1",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] %e ",
  log_checkpoints: "off",
};

// macOS's limit, the smallest; the address of a Unix socket is a field of fixed size.
const socketPathLimitBytes = 103;
const logLimitBytes = 8 * 1024 * 1024;
const logCheckMs = 60_000;
// Any number that nobody else is likely to lock in the maintenance database.
const claimId = 7_203_118_465;

/**
 * Starts the server of a data folder, or takes over the one that a killed process left running there.
 * One process at a time owns it: while that one lives, a second start on the same folder is refused.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options;
  const startedAt = performance.now();
  const cluster = await locateCluster(dataDir);
  await ensureCluster(cluster);
  const mark = await markOf(cluster.folder);
  const socketDir = await reachableSocketDir(cluster.folder);
  const logPath = join(dirname(cluster.folder), "postgres.log");
  const settings = { ...defaults, ...options.settings };
  const { pid, port } = await bringUp({ cluster, mark, socketDir, logPath, settings });

  const address = `host=${encodeURIComponent(socketDir)}&port=${port}&user=${owner}`;
  let stopped: Promise<void> | undefined;
  const claim = await claimServer(`postgresql:///postgres?${address}`, (error) => {
    if (stopped === undefined) log?.warn({ err: error, pid }, "embedded PostgreSQL left us");
  });
  const bounding = boundLog(logPath, log);
  const tookMs = Math.round(performance.now() - startedAt);
  log?.info({ pid, socketDir, tookMs }, "embedded PostgreSQL is ready");

  const stop = async () => {
    clearInterval(bounding);
    await stopPostmaster(pid, mark);
    await claim.end();
    if (socketDir !== cluster.folder) await rm(socketDir, { force: true });
  };
  const url = `postgresql:///${owner}?${address}`;
  return { url, socketDir, port, pid, stop: () => (stopped ??= stop()) };
}

// The socket lies in the cluster's own folder, which is closed to other users. Where the path is too long for the
// address of a socket, a link from the folder for temporary files leads there.
async function reachableSocketDir(folder: string): Promise<string> {
  const fits = (path: string) =>
    Buffer.byteLength(join(path, ".s.PGSQL.65535")) <= socketPathLimitBytes;
  if (fits(folder)) return folder;
  const link = join(tmpdir(), `herald-${process.getuid?.()}-${shortHash(folder)}`);
  if (!fits(link))
    throw cannotRun(`the paths ${folder} and ${link} are both too long for a socket. Shorten one.`);
  try {
    await symlink(folder, link);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    const { uid } = await lstat(link);
    if (uid !== process.getuid?.() || (await readlink(link)) !== folder) {
      throw cannotRun(
        `${link} is not ours, but stands where our link to ${folder} has to be. Remove it.`,
        error,
      );
    }
  }
  return link;
}

// The connection holds a lock for as long as we live, in a database where nobody is disturbed by either.
async function claimServer(url: string, onError: (error: Error) => void): Promise<Client> {
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
    application_name: "herald launcher",
    lock_timeout: 1_000,
    stream: () => socket,
  });
  client.on("error", onError);
  try {
    await client.connect();
    await client.query("select pg_advisory_lock($1)", [claimId]);
  } catch (error) {
    await client.end();
    throw hasCode(error, "55P03")
      ? new Error(
          "Another Herald is running on this data folder. Stop it, or give this one a DATA_DIR of its own.",
          { cause: error },
        )
      : new Error("The embedded PostgreSQL runs but takes no connection.", { cause: error });
  }
  socket.unref();
  return client;
}

// PostgreSQL appends to the file it was started with, so the file is emptied in place, now and then while we live.
function boundLog(path: string, log: EmbeddedOptions["log"]): NodeJS.Timeout {
  const cut = async () => {
    try {
      if ((await stat(path)).size < logLimitBytes) return;
      await copyFile(path, `${path}.1`);
      await truncate(path);
    } catch (error) {
      log?.warn({ err: error, path }, "the log of PostgreSQL could not be shortened");
    }
  };
  void cut();
  return setInterval(() => void cut(), logCheckMs).unref();
}
