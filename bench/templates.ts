import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Node } from "@takumi-rs/core";
import { createPool, startEmbeddedPostgres } from "../src/db/index.ts";
import { migrateAll } from "../src/migrate.ts";
import { fitText } from "../src/templates/fit.ts";
import { createFonts } from "../src/templates/fonts.ts";
import { templates } from "../src/templates/index.ts";
import { ratios } from "../src/templates/template.ts";
import { testSettings } from "../test/helpers/app.ts";
import { quiet } from "../test/helpers/database.ts";
import { createUsers, median, say, startServer } from "./tools.ts";

// How many pictures a second, from request to stored file, against the drawing engine alone on the same trees? How much
// faster is a picture that is known? Does drawing keep the process from answering others?

const rounds = 3;
const seconds = Number(process.env["BENCH_SECONDS"] ?? 4);
const connections = 4;
const users = 400;
const slug = "testimonial";
const ratio = "4:5";

let serial = 0;
// Three scripts, a gradient, a shadow: what a picture costs when it is worth posting.
const nextConfig = () => ({
  text: `A queue that nobody waits in is only a list: number ${serial++}. 誰も並ばない列はただの一覧です。 الطابور الذي لا ينتظر فيه أحد مجرد قائمة.`,
  author: "Ada Example",
  role: "Keeper of queues",
});

/** Calls one after the other on each of so many lines, until the time is over. Returns calls per second. */
async function loop(lines: number, act: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const line = async (): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1_000) {
      await act();
      count++;
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
  return (count * 1_000) / (performance.now() - startedAt);
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

/** The engine alone: trees laid out beforehand, as many at once as there are cores. */
async function bareEngine(): Promise<() => Promise<void>> {
  const template = templates.find((each) => each.slug === slug);
  if (!template) throw new Error(`There is no template ${slug}`);
  const { renderer, chainFor } = createFonts();
  const { families: fontFamilies } = await chainFor(nextConfig().text);
  const size = ratios[ratio];
  const fit = fitText.bind(
    undefined,
    async (node) => await renderer.measure(node, { fontFamilies }),
  );
  const trees: Node[] = [];
  for (let count = 0; count < 40; count++) {
    const config = template.config.parse(nextConfig());
    trees.push(await template.layout(config, { ratio, ...size, fit }));
  }
  let turn = 0;
  return async () => {
    const tree = trees[turn++ % trees.length];
    if (tree) await renderer.render(tree, { ...size, format: "png", fontFamilies });
  };
}

const dir = await mkdtemp(join(tmpdir(), "herald-bench-"));
const postgres = await startEmbeddedPostgres({ dataDir: join(dir, "postgres") });
try {
  await migrateAll(postgres.url, quiet);
  const owner = createPool({ url: postgres.url, name: "bench", size: 1 }, quiet);
  await createUsers(owner, users);
  await owner.end();
  const settings = { ...testSettings(postgres.url), DATA_DIR: join(dir, "data") };
  const server = await startServer("../src/server.ts", settings, join(dir, "server.log"));
  let user = 0;
  const render = async (config: object, key = (user++ % users) + 1): Promise<void> => {
    const answer = await fetch(`${server.address}/v1/templates`, {
      method: "POST",
      headers: { "content-type": "application/json", "svc-api-key": `sk_bench_${key}` },
      body: JSON.stringify({ templateSlug: slug, config, aspectRatio: ratio }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  };
  const probe = async (): Promise<void> => {
    await (await fetch(`${server.address}/livez`)).arrayBuffer();
  };
  try {
    say(
      `templates: ${cpus().length} x ${cpus()[0]?.model ?? "cpu"}, Node ${process.version}, ${slug} ${ratio}, medians of ${rounds} rounds of ${seconds} s, ${connections} connections`,
    );
    const bare = await bareEngine();
    const figures = { api: [] as number[], bare: [] as number[], probe: [] as number[] };
    for (let round = 0; round <= rounds; round++) {
      let isLoaded = true;
      const probes = (async (): Promise<number[]> => {
        const times = [];
        while (isLoaded) {
          times.push(await timed(probe));
          // Looking must not be a load of its own.
          await pause(25);
        }
        return times;
      })();
      const api = await loop(connections, async () => await render(nextConfig()));
      isLoaded = false;
      const waits = await probes;
      const alone = await loop(availableParallelism(), bare);
      if (round === 0) continue;
      figures.api.push(api);
      figures.bare.push(alone);
      figures.probe.push(waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0);
    }
    const [api, alone] = [median(figures.api), median(figures.bare)];
    say(
      `  through the API ${api.toFixed(1)}/s, engine alone ${alone.toFixed(1)}/s = ${(api / alone).toFixed(2)}`,
    );
    say(`  /livez meanwhile: p99 ${median(figures.probe).toFixed(1)} ms`);
    const [drawn, known]: [number[], number[]] = [[], []];
    for (let count = 0; count < 15; count++) {
      const [config, key] = [nextConfig(), count + 1];
      drawn.push(await timed(async () => await render(config, key)));
      known.push(await timed(async () => await render(config, key)));
    }
    const [first, again] = [median(drawn), median(known)];
    say(
      `  drawn ${first.toFixed(1)} ms, known ${again.toFixed(1)} ms = ${(first / again).toFixed(1)} times faster`,
    );
  } finally {
    await server.stop();
  }
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
