import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createPool, startEmbeddedPostgres } from "../src/db/index.ts";
import type { Pool } from "../src/db/index.ts";
import { migrateAll } from "../src/migrate.ts";
import { setStage } from "../test/chaos/stage.ts";
import { testSettings } from "../test/helpers/app.ts";
import { quiet } from "../test/helpers/database.ts";
import { createUsers, load, median, pgbench, say, startServer, writeWrkScript } from "./tools.ts";
import type { BenchServer } from "./tools.ts";

// Three questions about posts: how fast they are accepted, how soon they reach the platform, and what a million stored
// ones cost. Needs wrk and pgbench.

const keys = 20_000;
const rounds = 3;
const seconds = 5;
const connections = 128;

const oneByOne = `\\set i random(1, ${keys})
select * from gate_many(array[encode(sha256(('sk_bench_' || :i)::bytea), 'hex')], array[null::text], array['127.0.0.1'],
  array['POST /v1/posts'], array[30], 60000, array[35, 90, 200, 700], array[60000, 60000, 60000, 60000], '{}');
select user_id, platform, account_id, status from connected_accounts where user_id = any(array['user' || :i]);
select * from submit_many(array[gen_random_uuid()], array['user' || :i], array['k'], 'POST /v1/posts',
  array[gen_random_uuid()::text], array['h'], array['sealed'], array['{"text":"x"}'::jsonb],
  array['[{"targetId":"a","platform":"linkedin","accountId":"a"}]'::jsonb], array[null::timestamptz], array[0]);
`;

async function clear(owner: Pool): Promise<void> {
  await owner.query(
    "truncate rate_limit_windows, attempts, runs, submissions, idempotency_records, graphile_worker._private_jobs",
  );
}

async function acceptance(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "herald-bench-"));
  const postgres = await startEmbeddedPostgres({ dataDir: join(dir, "postgres") });
  await migrateAll(postgres.url, quiet);
  const owner = createPool(
    { url: postgres.url, name: "bench", size: 1, statementTimeoutMs: 60_000 },
    quiet,
  );
  await createUsers(owner, keys);
  await owner.query(
    `insert into connected_accounts (user_id, platform, account_id, access_token, scope, expires_in, expires_at, display_name)
     select 'user' || i, 'linkedin', 'a', 'sealed', '', 1, now() + interval '1 day', 'A' from generate_series(1, $1) i`,
    [keys],
  );
  await owner.query("analyze");
  const body = `{"post":{"content":{"text":"${"x".repeat(300)}","platform":"linkedin"}}}`;
  await writeWrkScript(dir, { keys, path: "/v1/posts", body });
  await writeFile(join(dir, "posts.sql"), oneByOne);
  const servers: BenchServer[] = [];
  const figures = {
    full: [] as number[],
    none: [] as number[],
    pgbench: [] as number[],
    p99: [] as number[],
  };
  try {
    for (const mode of ["full", "none"]) {
      const settings = { ...testSettings(postgres.url), BENCH_MODE: mode };
      servers.push(await startServer("posts-server.ts", settings, join(dir, `${mode}.log`)));
    }
    const [full = "", none = ""] = servers.map((each) => each.address);
    for (let round = 0; round <= rounds; round++) {
      await clear(owner);
      const shipped = await load(dir, full, connections, seconds);
      const alone = await load(dir, none, connections, seconds);
      await clear(owner);
      const single = await pgbench(join(dir, "posts.sql"), postgres.url, 16, seconds);
      if (round === 0) continue;
      figures.full.push(shipped.perSecond);
      figures.p99.push(shipped.p99);
      figures.none.push(alone.perSecond);
      figures.pgbench.push(single);
    }
  } finally {
    await Promise.all(servers.map(async (each) => await each.stop()));
    await owner.end();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
  const { full, none, pgbench: single, p99 } = figures;
  say(
    `accepted at ${connections} connections: ${median(full)}/s (p99 ${median(p99)} us), no database ${median(none)}/s, pgbench ${Math.round(median(single))}/s`,
  );
  say(
    `  of no database ${(median(full) / median(none)).toFixed(2)}, of pgbench ${(median(full) / median(single)).toFixed(2)}`,
  );
}

interface Latency {
  p50: number;
  p99: number;
}

async function latencyAndSize(): Promise<void> {
  const stage = await setStage(20, { workers: 1, apis: 1 });
  const [api = ""] = stage.apiUrls;
  const post = async (index: number, text: string): Promise<void> => {
    const user = stage.users[index % stage.users.length];
    const answer = await fetch(`${api}/v1/posts`, {
      method: "POST",
      headers: { "content-type": "application/json", "svc-api-key": user?.key ?? "" },
      body: JSON.stringify({ post: { content: { text, platform: "linkedin" } } }),
    });
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  try {
    for (let index = 0; index < 500; index++) {
      await post(index, `latency ${index} ${crypto.randomUUID()}`);
      await pause(40);
    }
    await pause(2_000);
    const { rows } = await stage.db.query<Latency>(
      `select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.99) within group (order by ms) as p99
       from (select extract(epoch from a.sent_at - s.created_at)::float8 * 1000 as ms
             from attempts a join runs r on r.id = a.run_id join submissions s on s.id = r.submission_id
             order by s.created_at offset 100) m`,
    );
    say(
      `accepted to platform call: p50 ${rows[0]?.p50.toFixed(1)} ms, p99 ${rows[0]?.p99.toFixed(1)} ms`,
    );

    const user = stage.users[0];
    const time = async (act: (index: number) => Promise<void>): Promise<number> => {
      const times: number[] = [];
      for (let index = 0; index < 300; index++) {
        const startedAt = performance.now();
        await act(index);
        times.push(performance.now() - startedAt);
      }
      return median(times);
    };
    const read = async (path: string): Promise<void> => {
      const answer = await fetch(`${api}${path}`, { headers: { "svc-api-key": user?.key ?? "" } });
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    };
    await stage.stopWorkers();
    const measure = async () => {
      await stage.db.query("vacuum analyze submissions");
      const { rows: some } = await stage.db.query<{ id: string }>(
        "select id from submissions where user_id = $1 limit 1",
        [user?.userId],
      );
      await stage.db.query("update rate_limit_windows set hits = '{}'");
      return {
        create: await time(
          async (index) => await post(index, `size ${index} ${crypto.randomUUID()}`),
        ),
        read: await time(async () => await read(`/v1/posts/${some[0]?.id}`)),
        list: await time(async () => await read("/v1/posts?limit=20")),
      };
    };
    const fill = async (count: number): Promise<void> => {
      await stage.db.query(
        `insert into submissions (id, user_id, status, content, targets, due_at)
         select gen_random_uuid(), $2, 'dispatched', '{"text":"stored"}', '[{"targetId":"linkedin:a","platform":"linkedin","accountId":"a"}]', now()
         from generate_series(1, $1)`,
        [count, user?.userId],
      );
    };
    await fill(10_000);
    const small = await measure();
    for (let count = 0; count < 10; count++) await fill(99_000);
    const large = await measure();
    for (const act of ["create", "read", "list"] as const) {
      say(
        `${act} with 1,000,000 stored / 10,000 stored: ${(large[act] / small[act]).toFixed(2)} (${large[act].toFixed(2)} / ${small[act].toFixed(2)} ms)`,
      );
    }
  } finally {
    await stage.stop();
  }
}

say(
  `posts: ${cpus().length} x ${cpus()[0]?.model ?? "cpu"}, Node ${process.version}, medians of ${rounds} rounds of ${seconds} s`,
);
await acceptance();
await latencyAndSize();
