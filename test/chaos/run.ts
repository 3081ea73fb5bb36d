import { chaosPosts } from "./posts.ts";

// npm run chaos -- posts [seed]: the full form of the crash test, with a report. The same seed replays the same faults.
const [name = "", seedText] = process.argv.slice(2);
if (name !== "posts") {
  process.stderr.write("usage: npm run chaos -- posts [seed]\n");
  process.exit(2);
}
const seed = Number(seedText ?? Math.floor(Math.random() * 1_000_000));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`seed ${seed}`);
const { problems, ...figures } = await chaosPosts({ posts: 1_000, kills: 200, seed, say });
for (const problem of problems) say(problem);
say(JSON.stringify(figures));
if (figures.lost > 0 || figures.doubled > 0) process.exitCode = 1;
