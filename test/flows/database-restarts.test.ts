import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createPool, createServiceLogin, startEmbeddedPostgres } from "../../src/db/index.ts";
import { migrateAll } from "../../src/migrate.ts";
import { createTestUser, testSettings } from "../helpers/app.ts";
import { quiet } from "../helpers/database.ts";
import { startApiProcess, startProcess } from "../helpers/processes.ts";

// HERALD_FULL=1 is the full form; its figures are in bench/RESULTS.md.
const restarts = process.env["HERALD_FULL"] ? 20 : 5;
const clients = 8;

const dir = await mkdtemp(join(tmpdir(), "herald-restarts-"));
let postgres = await startEmbeddedPostgres({ dataDir: dir });
await migrateAll(postgres.url, quiet);
const settings = {
  ...testSettings(await createServiceLogin(postgres.url)),
  RATE_LIMIT_PREMIUM_MAX: "10000000",
};
const db = createPool({ url: postgres.url, name: "test", size: 4 }, quiet);
const api = await startApiProcess(settings);
const worker = startProcess("src/worker.ts", settings);
after(async () => {
  await Promise.all([api.stop(), worker.stop(), db.end()]);
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Immediate: no goodbye to any connection, recovery at the next start. */
async function restart(): Promise<void> {
  process.kill(postgres.pid, "SIGQUIT");
  postgres = await startEmbeddedPostgres({ dataDir: dir });
}

interface Load {
  answered: { at: number; status: number }[];
  wrong: string[];
  stop(): Promise<void>;
}

function startLoad(key: string): Load {
  const load = { answered: [] as Load["answered"], wrong: [] as string[] };
  const off = new AbortController();
  const client = async (): Promise<void> => {
    while (!off.signal.aborted) {
      const answer = await fetch(`${api.url}/v1/me`, { headers: { "svc-api-key": key } });
      const body = await answer.text();
      load.answered.push({ at: performance.now(), status: answer.status });
      const isDocumented = answer.status === 503 && body.includes('"code":"service_unavailable"');
      if (answer.status !== 200 && !isDocumented) load.wrong.push(`${answer.status} ${body}`);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    ...load,
    async stop() {
      off.abort();
      await running;
    },
  };
}

const succeededBetween = (load: Load, from: number, to: number): number =>
  load.answered.filter(({ at, status }) => status === 200 && at >= from && at < to).length;

async function until(
  isTrue: () => Promise<boolean>,
  limitMs: number,
  what: string,
): Promise<number> {
  const startedAt = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedAt > limitMs)
      throw new Error(`not within ${limitMs} ms: ${what}`);
    await pause(20);
  }
  return performance.now() - startedAt;
}

test(`${restarts} immediate restarts of the database under load`, async (t) => {
  const { key } = await createTestUser(db);
  const load = startLoad(key);
  await until(async () => load.answered.length > 500, 30_000, "the load runs");
  const rateWindowMs = 500;
  const warm = performance.now();
  await until(async () => performance.now() - warm > 3 * rateWindowMs, 10_000, "a measured second");
  const usual =
    succeededBetween(load, warm, performance.now()) / ((performance.now() - warm) / rateWindowMs);

  const recoveries: number[] = [];
  for (let count = 0; count < restarts; count++) {
    await restart();
    const acceptedAt = performance.now();
    const isFull = async (): Promise<boolean> => {
      const now = performance.now();
      return (
        now - acceptedAt > rateWindowMs &&
        succeededBetween(load, now - rateWindowMs, now) > 0.7 * usual
      );
    };
    recoveries.push(await until(isFull, 5_000, "full rate after a restart"));
    await db.query("select graphile_worker.add_job('worker.forget', '{}')");
    const isDone = async (): Promise<boolean> =>
      (await db.query("select from graphile_worker._private_jobs")).rowCount === 0;
    // A fetch whose answer was lost with the connection is noticed after about six seconds.
    await until(isDone, 10_000, "a job is run after a restart");
  }
  await load.stop();
  const refused = load.answered.filter(({ status }) => status === 503).length;
  t.diagnostic(
    `${load.answered.length} calls, ${refused} answered 503; full rate after at most ${Math.round(Math.max(...recoveries))} ms`,
  );
  assert.deepEqual(load.wrong, []);
  assert.deepEqual([api.child.exitCode, worker.child.exitCode], [null, null]);
});
