import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Logger } from "pino";
import { loadConfig } from "./config.ts";
import { createServiceLogin, startEmbeddedPostgres } from "./db/index.ts";
import { createDeps } from "./deps.ts";
import { createLog } from "./log.ts";
import { migrateAll } from "./migrate.ts";
import { greeting, ownSecrets, prepareDemo, sandboxSettings, sandboxed } from "./quick-start.ts";
import { startApi } from "./server.ts";
import { stopOnSignals } from "./signals.ts";
import { startJobs } from "./worker.ts";

type Stop = () => Promise<void>;

/** The sandbox is the outside world: a process of its own, reached by address alone. It ends when this one does. */
async function startSandbox(
  settings: Record<string, string>,
): Promise<{ url: string; stop: Stop }> {
  const child = fork(new URL("../sandbox/server.ts", import.meta.url), {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const [line] = (await Promise.race([
    once(child.stdout ?? child, "data"),
    once(child, "exit").then(() => {
      throw new Error(`the sandbox did not start: is port ${settings["SANDBOX_PORT"]} in use?`);
    }),
  ])) as [Buffer];
  const { url } = JSON.parse(line.toString("utf8")) as { url: string };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { url, stop };
}

/** The embedded server, and the settings that lead to it: the owner migrates, the service has its own login. */
async function ownDatabase(
  dataDir: string,
  log: Logger,
  stops: Stop[],
): Promise<Record<string, string>> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir, "postgres"), log });
  stops.push(postgres.stop);
  await migrateAll(postgres.url, log);
  return {
    MIGRATE_DATABASE_URL: postgres.url,
    DATABASE_URL: await createServiceLogin(postgres.url),
  };
}

/** Everything with one command. What was started is stopped in the opposite order, also when a later step fails. */
async function start(env: Record<string, string | undefined>): Promise<void> {
  const dataDir = env["DATA_DIR"] || "./data";
  const log: Logger = createLog(env["LOG_LEVEL"] || "warn", "herald");
  const stops: Stop[] = [];
  const stopAll: Stop = async () => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  };
  stopOnSignals(log, stopAll);
  try {
    const secrets = await ownSecrets(dataDir);
    const database = env["DATABASE_URL"] ? {} : await ownDatabase(dataDir, log, stops);
    const given = { ...secrets, ...env, DATA_DIR: dataDir, ...database };
    const sandbox = await startSandbox({
      SANDBOX_PORT: String(loadConfig(given).sandbox.port),
      SANDBOX_DATA_DIR: join(dataDir, "sandbox"),
    });
    stops.push(sandbox.stop);
    const played = sandboxed(env);
    const config = loadConfig({ ...given, ...sandboxSettings(sandbox.url, played) });
    await migrateAll(config.database.migrateUrl, log);
    const deps = createDeps(config, log);
    stops.push(deps.close);
    const worker = await startJobs(deps);
    stops.push(worker.stop);
    const app = await startApi(deps);
    stops.push(async () => await app.close());
    process.stdout.write(greeting(await prepareDemo(deps, sandbox.url, played)));
  } catch (error) {
    await stopAll();
    throw error;
  }
}

await start(process.env).catch((error: Error) => {
  const because = error.cause instanceof Error ? `${error.cause.message}\n` : "";
  process.stderr.write(`\nHerald could not start: ${error.message}\n${because}`);
  process.exitCode = 1;
});
