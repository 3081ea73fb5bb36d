import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool, createServiceLogin, startEmbeddedPostgres } from "../../src/db/index.ts";
import type { Pool } from "../../src/db/index.ts";
import { loadConfig } from "../../src/config.ts";
import { connectDemoAccount } from "../../src/demo-connection.ts";
import { createDeps } from "../../src/deps.ts";
import { migrateAll } from "../../src/migrate.ts";
import { sandboxSettings } from "../../src/quick-start.ts";
import { createTestUser, testSettings } from "../helpers/app.ts";
import type { TestUser } from "../helpers/app.ts";
import { quiet } from "../helpers/database.ts";
import { freePort } from "../helpers/ports.ts";
import { startProcess } from "../helpers/processes.ts";
import type { ServiceProcess } from "../helpers/processes.ts";
import { newCredentials } from "../helpers/tokens.ts";

export interface StageOptions {
  workers?: number;
  apis?: number;
  settings?: Record<string, string>;
}

/** The whole service as processes of its own, each of which can be killed and comes back. */
export interface Stage {
  apiUrls: string[];
  sandboxUrl: string;
  users: TestUser[];
  db: Pool;
  /** The pid of a process that runs now. */
  pidOf(part: "api" | "worker", index: number): number | undefined;
  /** Kills the database, and starts it again. */
  killDatabase(): Promise<void>;
  /** Takes all workers down, and up again. */
  stopWorkers(): Promise<void>;
  startWorkers(): void;
  stop(): Promise<void>;
}

export async function setStage(
  userCount: number,
  { workers = 4, apis = 2, settings: ownSettings = {} }: StageOptions = {},
): Promise<Stage> {
  const dir = await mkdtemp(join(tmpdir(), "herald-chaos-"));
  let postgres = await startEmbeddedPostgres({ dataDir: join(dir, "postgres") });
  await migrateAll(postgres.url, quiet);
  const databaseUrl = await createServiceLogin(postgres.url);
  const db = createPool(
    { url: postgres.url, name: "chaos", size: 4, statementTimeoutMs: 60_000 },
    quiet,
  );
  const sandbox = startProcess("sandbox/server.ts", {
    SANDBOX_PORT: "0",
    SANDBOX_DATA_DIR: join(dir, "sandbox"),
  });
  const { url } = await sandbox.firstJson();
  const sandboxUrl = String(url);
  const ports = await Promise.all(Array.from({ length: apis }, freePort));
  const settings = {
    ...testSettings(databaseUrl),
    ...sandboxSettings(sandboxUrl),
    BASE_URL: `http://localhost:${ports[0]}`,
    RATE_LIMIT_DEFAULT_MAX: "1000000",
    RATE_LIMIT_PREMIUM_MAX: "1000000",
    RATE_LIMIT_SIGN_IN_MAX: "0",
    ...ownSettings,
  };

  const running = new Map<string, ServiceProcess>();
  let isOver = false;
  let areWorkersUp = true;
  /** What is killed is started again at once, as a supervisor would. */
  function keep(name: string, entry: string, more: Record<string, string>): void {
    const process = startProcess(entry, { ...settings, ...more });
    running.set(name, process);
    process.child.once("exit", () => {
      const isWanted = !isOver && (areWorkersUp || !name.startsWith("worker"));
      if (isWanted) keep(name, entry, more);
    });
  }
  for (const [index, port] of ports.entries())
    keep(`api ${index}`, "src/server.ts", { PORT: String(port) });
  const startWorkers = (): void => {
    areWorkersUp = true;
    for (let index = 0; index < workers; index++) keep(`worker ${index}`, "src/worker.ts", {});
  };
  startWorkers();
  await Promise.all(
    ports.map(async (_, index) => await running.get(`api ${index}`)?.line("listening")),
  );

  const deps = createDeps(loadConfig(settings), quiet);
  const users: TestUser[] = [];
  for (let count = 0; count < userCount; count++) {
    const who = newCredentials();
    const userId = await deps.identity.createUser({ ...who, name: "Ada" });
    users.push(await createTestUser(db, {}, userId));
    await connectDemoAccount({
      functionsUrl: `${settings.BASE_URL}/functions`,
      webUrl: settings.BASE_URL,
      ...who,
      start: "networkAuthStart",
      consent: { decision: "allow", member: "Ada1815_Lv" },
    });
  }
  await deps.close();

  return {
    apiUrls: ports.map((port) => `http://localhost:${port}`),
    sandboxUrl,
    users,
    db,
    pidOf: (part, index) =>
      running.get(`${part} ${index % (part === "api" ? apis : workers)}`)?.child.pid,
    async killDatabase() {
      process.kill(postgres.pid, "SIGKILL");
      postgres = await startEmbeddedPostgres({ dataDir: join(dir, "postgres") });
    },
    startWorkers,
    async stopWorkers() {
      areWorkersUp = false;
      const all = [...running].filter(([name]) => name.startsWith("worker"));
      await Promise.all(all.map(async ([, each]) => await each.stop()));
    },
    async stop() {
      isOver = true;
      await Promise.all([...running.values(), sandbox].map(async (each) => await each.stop()));
      await db.end();
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
