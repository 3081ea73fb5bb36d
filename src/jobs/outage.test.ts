import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo, NetConnectOpts, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { z } from "zod";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import {
  createPool,
  isUnavailable,
  migrate,
  serviceRole,
  startEmbeddedPostgres,
} from "../db/index.ts";
import { defineTask, enqueue, enqueueMany, migrateJobs, startWorker } from "./index.ts";
import { endings, jobRows, until } from "./jobs.testing.ts";

const payload = z.object({ n: z.number() });

function counted() {
  const counts = new Map<string, number>();
  const task = defineTask({
    name: "test.count",
    payload,
    async run(_payload, { jobId }) {
      counts.set(jobId, (counts.get(jobId) ?? 0) + 1);
    },
  });
  return { counts, task };
}

/** A task that runs until it is let go. */
function held() {
  const begun: string[] = [];
  const letGo = Promise.withResolvers<void>();
  const task = defineTask({
    name: "test.held",
    payload,
    async run(_payload, { jobId }) {
      begun.push(jobId);
      await letGo.promise;
    },
  });
  return { begun, letGo, task };
}

const wedges: Error[] = [];
const onWedged = (error: Error): void => void wedges.push(error);
afterEach(() => assert.deepEqual(wedges, []));

test("after a crash of the database workers go on by themselves, with their ids, and run every job once", async (t) => {
  const onEnd = endings();
  const dataDir = await mkdtemp(join(tmpdir(), "herald-outage-"));
  let server = await startEmbeddedPostgres({ dataDir });
  onEnd(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const { url } = server;
  await migrate(url, quiet, migrateJobs);
  const db = createPool({ url, name: "test", size: 2, role: serviceRole }, quiet);
  onEnd(async () => await db.end());
  const [quick, long] = [counted(), held()];
  const options = { url, log: quiet, concurrency: 4, tasks: [quick.task, long.task], onWedged };
  const workers = await Promise.all([startWorker(options), startWorker(options)]);
  onEnd(async () => {
    long.letGo.resolve();
    await Promise.all(workers.map((worker) => worker.stop()));
  });
  const ids = workers.map(({ id }) => id);
  await enqueue(db, long.task, { n: 0 });
  await until(() => long.begun.length === 1);

  let expected = 0;
  const feed = async (): Promise<void> => {
    const specs = Array.from({ length: 20 }, (_, n) => ({ task: quick.task, payload: { n } }));
    await enqueueMany(db, specs);
    expected += specs.length;
  };
  for (let batch = 0; batch < 10; batch++) await feed();
  const isGone = once(server.pid);
  process.kill(server.pid, "SIGQUIT");
  await isGone;
  server = await startEmbeddedPostgres({ dataDir });
  const backAt = performance.now();
  const before = [...quick.counts.values()].length;
  await until(async () => {
    try {
      await feed();
      return true;
    } catch (error) {
      assert.ok(isUnavailable(error), String(error));
      return false;
    }
  });
  await until(() => quick.counts.size > before, 5);
  t.diagnostic(`working again ${Math.round(performance.now() - backAt)} ms after the database`);
  await until(async () => (await jobRows(db)).length === 1, 20);
  t.diagnostic(`all done ${Math.round(performance.now() - backAt)} ms after the database`);
  assert.equal(quick.counts.size, expected);
  assert.deepEqual(new Set(quick.counts.values()), new Set([1]));
  assert.deepEqual(
    workers.map(({ id }) => id),
    ids,
  );
  long.letGo.resolve();
  await Promise.all(workers.map((worker) => worker.stop()));
  assert.equal(long.begun.length, 1);
  assert.deepEqual(await jobRows(db), []);
});

/** Resolves when no process has this id any more. */
async function once(pid: number): Promise<void> {
  await until(() => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  });
}

/** A way to the database whose connections can be made to lead nowhere: open, and silent. */
async function startProxy(url: string) {
  const { searchParams, hostname, port } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  const serverPort = Number(searchParams.get("port") ?? (port || 5432));
  const target: NetConnectOpts = host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${serverPort}` }
    : { host, port: serverPort };
  const pairs = new Set<[Socket, Socket]>();
  const server = createServer((client) => {
    const upstream = connect(target);
    pairs.add([client, upstream]);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await until(() => server.listening);
  const close = async (): Promise<void> => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    server.close();
  };
  const proxied = new URL(url);
  const address = server.address() as AddressInfo;
  proxied.searchParams.set("host", "127.0.0.1");
  proxied.searchParams.set("port", String(address.port));
  return {
    url: proxied.href,
    close,
    /** Returns how to end the server's side of the connections that were silenced. */
    silence(): () => void {
      const silenced = [...pairs];
      pairs.clear();
      for (const [client, upstream] of silenced) {
        client.unpipe(upstream);
        upstream.unpipe(client);
        client.pause();
        upstream.pause();
        client.removeAllListeners("close");
      }
      return () => silenced.forEach(([, upstream]) => upstream.destroy());
    },
  };
}

test("connections that lead nowhere are noticed within 10 s, and the worker keeps id and jobs", async (t) => {
  const onEnd = endings();
  const database = await testDatabase();
  const proxy = await startProxy(database.url);
  onEnd(proxy.close);
  const [quick, long] = [counted(), held()];
  const worker = await startWorker({
    url: proxy.url,
    log: quiet,
    concurrency: 4,
    tasks: [quick.task, long.task],
    onWedged,
  });
  onEnd(async () => {
    long.letGo.resolve();
    await worker.stop();
  });
  const { id } = worker;
  await enqueue(database.db, long.task, { n: 0 });
  await until(() => long.begun.length === 1);
  const sessions = async (): Promise<number[]> => {
    const { rows } = await database.owner.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'herald worker lock'`,
    );
    return rows.map(({ pid }) => pid);
  };
  const [old] = await sessions();

  const silencedAt = performance.now();
  const endServerSide = proxy.silence();
  await enqueue(database.db, quick.task, { n: 1 });
  const fresh = await until(async () => (await sessions()).find((pid) => pid !== old), 10);
  t.diagnostic(`a new connection after ${Math.round(performance.now() - silencedAt)} ms`);
  await until(() => quick.counts.size === 1, 15);
  t.diagnostic(`working again after ${Math.round(performance.now() - silencedAt)} ms`);

  endServerSide();
  const lockHolder = async (): Promise<boolean> => {
    const { rowCount } = await database.owner.query(
      "select from pg_locks where locktype = 'advisory' and pid = $1 and objid = $2 and granted",
      [fresh, id],
    );
    return rowCount === 1;
  };
  await until(lockHolder);
  assert.equal(worker.id, id);
  assert.deepEqual(
    (await jobRows(database.db)).map((row) => row.lockedBy),
    [`herald-${id}`],
  );
  assert.equal(long.begun.length, 1);
});
