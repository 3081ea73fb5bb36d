import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../src/db/index.ts";

// npm test: installs what the tests need beyond npm where that is possible, starts a PostgreSQL for all of them, and
// runs them. `npm test -- path...` runs some files only.

/** Programs and files, each with the package that has it. */
const needed = {
  "redis-server": "redis-server",
  flite: "flite",
  "espeak-ng": "espeak-ng",
  "/usr/share/pocketsphinx/test/data/librivox": "pocketsphinx-testdata",
};

const isThere = (name: string): boolean =>
  name.startsWith("/") ? existsSync(name) : spawnSync("which", [name]).status === 0;

/** Tests that lack something skip themselves and say so. */
function installPrograms(): void {
  const missing = Object.entries(needed).filter(([name]) => !isThere(name));
  const canInstall = process.getuid?.() === 0 && spawnSync("which", ["apt-get"]).status === 0;
  if (missing.length === 0) return;
  const names = missing.map(([, name]) => name);
  if (!canInstall) {
    process.stderr.write(
      `Not installed, and can't be from here: ${names.join(", ")}. Their tests are skipped.\n`,
    );
    return;
  }
  const quietly = { stdio: ["ignore", "ignore", "inherit"] as ("ignore" | "inherit")[] };
  spawnSync("apt-get", ["update", "-qq"], quietly);
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names], quietly);
}

installPrograms();
const dataDir = await mkdtemp(join(tmpdir(), "herald-test-"));
const postgres = await startEmbeddedPostgres({
  dataDir,
  settings: { fsync: "off", full_page_writes: "off" },
});
const chosen = process.argv.slice(2);
const files = chosen.length > 0 ? chosen : ["{src,sandbox,test}/**/*.test.ts"];
const runner = spawn(process.execPath, ["--test", "--test-concurrency=2", ...files], {
  stdio: "inherit",
  env: { ...process.env, TEST_DATABASE_URL: postgres.url },
});
const onSignal = (): void => void runner.kill("SIGTERM");
process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
const [code] = (await once(runner, "exit")) as [number | null];
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
process.exitCode = code ?? 1;
