import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { chaosPosts } from "./posts.ts";

// A tenth of the full forms, which are `npm run chaos -- posts` and `npm run chaos -- posts-linkedin`.

async function killTwenty(t: TestContext, isTellingNothing: boolean) {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1_000_000));
  const say = (line: string): void => t.diagnostic(line);
  const options = { posts: 100, kills: 20, seed, isTellingNothing, say };
  const { problems, ...figures } = await chaosPosts(options);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(problems, [], `seed ${seed}`);
  assert.equal(figures.succeeded + figures.unconfirmed, 100);
  return figures;
}

test("100 posts, 20 kills, a platform that tells nothing: none lost, none doubled, each unknown explained", async (t) => {
  await killTwenty(t, true);
});

test("100 posts, 20 kills, a platform that refuses repeats: none lost, none doubled, none unknown", async (t) => {
  assert.equal((await killTwenty(t, false)).unconfirmed, 0);
});
