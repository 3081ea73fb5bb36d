import {
  access,
  chown,
  constants,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { cannotRun, execute, findBinaries, hasCode } from "./embedded-binaries.ts";
import type { Account } from "./embedded-binaries.ts";

export interface Cluster {
  folder: string;
  account: Account | undefined;
}

export const owner = "herald";

/** Where the cluster of a data folder lies, and who runs its server: its owner, or for a new one an unprivileged user. */
export async function locateCluster(dataDir: string): Promise<Cluster> {
  const folder = join(await usableFolder(dataDir), "postgres");
  const present = await ownerOf(folder);
  const self = process.getuid?.();
  if (self === 0) {
    const account =
      present === undefined || present.uid === 0
        ? unprivileged(await readFile("/etc/passwd", "utf8"))
        : present;
    return { folder, account };
  }
  if (present !== undefined && present.uid !== self) {
    throw cannotRun(`${folder} belongs to user id ${present.uid}, and this is user id ${self}.`);
  }
  return { folder, account: undefined };
}

async function usableFolder(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(dataDir);
  } catch (error) {
    throw cannotRun(
      `the data folder ${dataDir} cannot be read and written (${String(error)}).`,
      error,
    );
  }
}

async function ownerOf(folder: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await stat(folder);
    return { uid, gid };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The user to run as when we are root, from the text of the password file. */
export function unprivileged(passwords: string): Account {
  const users = passwords.split("\n").map((line) => line.split(":"));
  const user =
    users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (user === undefined) {
    throw cannotRun(
      "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody.",
    );
  }
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/**
 * The data folder as the server is told it, when started inside of it. Under another account it may lie below
 * folders that are closed to that account; Linux leads there from the working directory without passing them.
 */
export function folderSeenByServer({ folder, account }: Cluster): string {
  return account !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder;
}

/** Makes the cluster with its database unless it is there. It appears by one rename, so it is whole or absent. */
export async function ensureCluster(cluster: Cluster): Promise<void> {
  if (!(await isCluster(cluster.folder))) await createCluster(cluster);
  const { folder, account } = cluster;
  // A backup that root copied back is root's.
  if (account !== undefined && (await stat(folder)).uid !== account.uid) {
    await execute("chown", ["-hR", `${account.uid}:${account.gid}`, folder]);
  }
  await removeAbandonedDrafts(dirname(folder));
}

async function removeAbandonedDrafts(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const maker = /^postgres-draft-(\d+)-/.exec(name)?.[1];
    if (maker !== undefined && !isAlive(Number(maker))) await removeDraft(join(parent, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}

// An initdb whose parent was killed runs on for a moment, so files may still appear.
async function removeDraft(draft: string): Promise<void> {
  await rm(draft, { recursive: true, force: true, maxRetries: 10 });
}

async function isCluster(folder: string): Promise<boolean> {
  return (await ownerOf(join(folder, "PG_VERSION"))) !== undefined;
}

async function createCluster({ folder, account }: Cluster): Promise<void> {
  const binaries = await findBinaries(account);
  const draft = await mkdtemp(`${folder}-draft-${process.pid}-`);
  try {
    if (account !== undefined) await chown(draft, account.uid, account.gid);
    await initialise({ folder: draft, account }, binaries);
    await rename(draft, folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    // A simultaneous start was faster: its cluster is as good as ours.
    if (!(await isCluster(folder)))
      throw cannotRun(`no cluster could be made in ${folder} (${String(error)}).`, error);
  } finally {
    await removeDraft(draft);
  }
}

async function initialise(cluster: Cluster, binaries: string): Promise<void> {
  const folder = folderSeenByServer(cluster);
  const how = { account: cluster.account, cwd: cluster.folder };
  const login = [`--username=${owner}`, "--auth-local=trust", "--auth-host=scram-sha-256"];
  // The libc locale stays C, which is the same everywhere; the builtin one knows Unicode and never changes under an index.
  const locale = [
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
  ];
  await execute(
    join(binaries, "bin/initdb"),
    ["-D", folder, ...login, ...locale, "--data-checksums"],
    how,
  );
  const singleUser = ["--single", "-D", folder, "-c", "exit_on_error=on", "postgres"];
  await execute(join(binaries, "bin/postgres"), singleUser, {
    ...how,
    input: `CREATE DATABASE ${owner}\n`,
  });
}

// Until the rename is on disk, a power failure could take the whole cluster with it.
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
