import { chaosCredits, chaosLastCredit } from "./credits.ts";
import { queueFairly } from "./fairness.ts";
import { chaosPosts } from "./posts.ts";
import { schedulePosts } from "./schedule.ts";

// npm run chaos -- <name> [seed]: the full forms, with a report. The same seed replays the same faults.
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [name = "", seedText] = process.argv.slice(2);
const seed = Number(seedText ?? Math.floor(Math.random() * 1_000_000));

async function posts(isTellingNothing: boolean): Promise<boolean> {
  say(`seed ${seed}`);
  const options = { posts: 1_000, kills: 200, seed, isTellingNothing, say };
  const { problems, ...figures } = await chaosPosts(options);
  for (const problem of problems) say(problem);
  say(JSON.stringify(figures));
  return problems.length === 0;
}

const scenes: Record<string, () => Promise<boolean>> = {
  posts: async () => await posts(true),
  /** As LinkedIn is: it refuses repeats, and names the first post. */
  "posts-linkedin": async () => await posts(false),
  async schedule() {
    const figures = await schedulePosts({ posts: 5_000, spanMs: 60_000 });
    say(JSON.stringify(figures));
    return (
      figures.missing === 0 &&
      figures.doubled === 0 &&
      figures.early === 0 &&
      figures.lateP99Ms <= 2_000
    );
  },
  async credits() {
    say(`seed ${seed}`);
    const load = { users: 200, operations: 100_000, clients: 16, restarts: 10 };
    const figures = await chaosCredits({ ...load, seed });
    say(JSON.stringify(figures));
    const last = await chaosLastCredit(500, 100);
    say(`the last credit: ${JSON.stringify(last)}`);
    return figures.problems.length === 0 && last.problems.length === 0;
  },
  async fairness() {
    const figures = await queueFairly(10_000);
    say(JSON.stringify(figures));
    return figures.othersP95Ms <= 5_000;
  },
};

const scene = scenes[name];
if (!scene) {
  process.stderr.write(`usage: npm run chaos -- <${Object.keys(scenes).join("|")}> [seed]\n`);
  process.exit(2);
}
process.exitCode = (await scene()) ? 0 : 1;
