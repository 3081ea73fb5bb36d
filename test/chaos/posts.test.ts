import assert from "node:assert/strict";
import { test } from "node:test";
import { chaosPosts } from "./posts.ts";

// A tenth of the full form, which is `npm run chaos -- posts`.
test("100 posts while workers, APIs and the database are killed 20 times: none lost, none doubled", async (t) => {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1_000_000));
  const { problems, ...figures } = await chaosPosts({
    posts: 100,
    kills: 20,
    seed,
    say: (line) => t.diagnostic(line),
  });
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(problems, [], `seed ${seed}`);
  assert.equal(figures.succeeded + figures.unconfirmed, 100);
});
