import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { open, readFile, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { cannotRun, cleanEnvironment, findBinaries, hasCode } from "./embedded-binaries.ts";
import { folderSeenByServer } from "./embedded-cluster.ts";
import type { Cluster } from "./embedded-cluster.ts";

/** What a postmaster writes into its lock file, `postmaster.pid`. */
export interface LockFile {
  pid: number;
  port: number;
  isReady: boolean;
}

export interface Server {
  cluster: Cluster;
  mark: string;
  socketDir: string;
  logPath: string;
  settings: Record<string, string>;
}

interface Launch {
  child: ChildProcess;
  logOffset: number;
}

// Above the highest process id of any system, so never alive.
const nobodysPid = "2147483647";
const startTimeoutMs = 60_000;
const stopTimeoutMs = 60_000;
const pollMs = 5;
const retryMs = 200;

/**
 * A setting of no effect that names the data folder on the server's command line, whatever path leads to it.
 * By it a process id is known to be our server, not a later process that got the same number.
 */
export async function markOf(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  return `herald.cluster=${dev}:${ino}`;
}

async function isPostmaster(pid: number, mark: string): Promise<boolean> {
  try {
    const commandLine =
      process.platform === "linux"
        ? await readFile(`/proc/${pid}/cmdline`, "utf8")
        : (await promisify(execFile)("ps", ["-ww", "-o", "command=", "-p", String(pid)])).stdout;
    return commandLine.split(/[\0\s]/).includes(mark);
  } catch (error) {
    // No such process (ps exits with 1), or one of another user that we may not look at.
    if (hasCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM", "1")) return false;
    throw error;
  }
}

async function readLockFile(folder: string): Promise<LockFile | undefined> {
  try {
    const lines = (await readFile(join(folder, "postmaster.pid"), "utf8")).split("\n");
    return { pid: Number(lines[0]), port: Number(lines[3]), isReady: lines[7]?.trim() === "ready" };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * Takes the process id out of a dead server's lock file: PostgreSQL would refuse to start when another process has that
 * id now. The rest stays, for PostgreSQL finds by it what a dead server's children still hold. It is written through
 * the handle it was read from: when a faster start has put its own file in place, only the discarded one changes.
 */
async function disownLockFile(path: string, mark: string): Promise<void> {
  try {
    await using file = await open(path, "r+");
    const [pid = "", ...rest] = (await file.readFile("utf8")).split("\n");
    if (pid === "" || (await isPostmaster(Number(pid), mark))) return;
    await file.write([nobodysPid, ...rest].join("\n"), 0);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

/** Whether a server listens on the socket: also one in another container, whose process cannot be seen from here. */
async function answers(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", (error) => resolve(!hasCode(error, "ENOENT", "ECONNREFUSED")));
    });
  } finally {
    socket.destroy();
  }
}

/** Finds the folder's server running, or launches it, and waits until it is ready. */
export async function bringUp(server: Server): Promise<LockFile> {
  const { cluster, mark, socketDir } = server;
  const deadline = Date.now() + startTimeoutMs;
  let launch: Launch | undefined;
  while (Date.now() < deadline) {
    const lock = await readLockFile(cluster.folder);
    if (lock !== undefined && (await isPostmaster(lock.pid, mark))) {
      if (lock.isReady) return lock;
    } else if (launch === undefined) {
      const isElsewhere =
        lock !== undefined && (await answers(join(socketDir, `.s.PGSQL.${lock.port}`)));
      if (!isElsewhere) launch = await launchServer(server);
    } else if (launch.child.exitCode !== null || launch.child.signalCode !== null) {
      await waitIfOccupied(launch, server.logPath);
      launch = undefined;
    }
    await delay(pollMs);
  }
  throw cannotRun(
    `the server on ${cluster.folder} is not ready after ${startTimeoutMs / 1000} s. Either it is still recovering (start ` +
      "again to wait on), or a server out of our sight, as in another container, has the folder.\n" +
      (await lastLines(server.logPath, 0)),
  );
}

async function launchServer(server: Server): Promise<Launch> {
  const { cluster, mark, logPath, settings } = server;
  const binaries = await findBinaries(cluster.account);
  await disownLockFile(join(cluster.folder, "postmaster.pid"), mark);
  await disownLockFile(join(cluster.folder, `.s.PGSQL.${settings["port"]}.lock`), mark);
  const given = [...Object.entries(settings).map(([name, value]) => `${name}=${value}`), mark];
  await using log = await open(logPath, "a", 0o600);
  const { size: logOffset } = await log.stat();
  const child = spawn(
    join(binaries, "bin/postgres"),
    ["-D", folderSeenByServer(cluster), ...given.flatMap((setting) => ["-c", setting])],
    {
      ...cluster.account,
      cwd: cluster.folder,
      env: cleanEnvironment,
      stdio: ["ignore", log.fd, log.fd],
      // A session of its own: Ctrl-C in the terminal is for us, and we stop the server when we are done with it.
      detached: true,
    },
  );
  child.unref();
  await once(child, "spawn");
  return { child, logOffset };
}

// SQLSTATE F0001: the folder is taken, by a simultaneous start or by what a killed server's children still do.
async function waitIfOccupied({ logOffset }: Launch, logPath: string): Promise<void> {
  const words = await lastLines(logPath, logOffset);
  if (!words.includes(" F0001 ")) throw cannotRun(`the server did not start.\n${words}`);
  await delay(retryMs);
}

async function lastLines(logPath: string, offset: number): Promise<string> {
  const text = (await readFile(logPath)).subarray(offset).toString().trimEnd();
  return `The end of ${logPath}:\n${text.split("\n").slice(-20).join("\n")}`;
}

/** Fast shutdown, which rolls open transactions back. Resolves when the process is gone. */
export async function stopPostmaster(pid: number, mark: string): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    const deadline = Date.now() + stopTimeoutMs;
    if (await isPostmaster(pid, mark)) sendSignal(pid, signal);
    while (Date.now() < deadline) {
      if (!(await isPostmaster(pid, mark))) return;
      await delay(pollMs);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop.`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself just now.
    if (!hasCode(error, "ESRCH")) throw error;
  }
}
