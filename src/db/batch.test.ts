import assert from "node:assert/strict";
import { test } from "node:test";
import { batched } from "./batch.ts";

test("what arrives together goes out together, and each item gets its own answer", async () => {
  const calls: number[][] = [];
  const double = batched(async (items: number[]) => {
    calls.push(items);
    return items.map((item) => item * 2);
  });
  assert.deepEqual(await Promise.all([1, 2, 3].map(double)), [2, 4, 6]);
  assert.deepEqual(calls, [[1, 2, 3]]);
});

test("what arrives while calls are in flight waits for the next one, and no call is too large", async () => {
  const sizes: number[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const call = batched(
    async (items: number[]) => {
      sizes.push(items.length);
      await held;
      return items;
    },
    { maxItems: 4, maxInFlight: 2 },
  );
  const answers = Promise.all(Array.from({ length: 10 }, (_, i) => call(i)));
  await new Promise(setImmediate);
  assert.deepEqual(sizes, [4, 4]);
  release();
  assert.deepEqual(await answers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(sizes, [4, 4, 2]);
});

const withCode = (code: string) => Object.assign(new Error(code), { code });

test("an item that the database can't take fails alone", async () => {
  const call = batched(async (items: number[]) => {
    if (items.includes(13)) throw withCode("22P02");
    return items;
  });
  const answers = await Promise.allSettled([12, 13, 14].map(call));
  assert.deepEqual(
    answers.map((answer) => answer.status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});

test("a database that is gone is asked once per batch, not once per item", async () => {
  let calls = 0;
  const call = batched(async (): Promise<number[]> => {
    calls += 1;
    throw withCode("ECONNREFUSED");
  });
  const answers = await Promise.allSettled([1, 2, 3].map(call));
  assert.ok(answers.every((answer) => answer.status === "rejected"));
  assert.equal(calls, 1);
});

test("after a failure the next items are served", async () => {
  let isDown = true;
  const call = batched(async (items: number[]) => {
    if (isDown) throw withCode("ECONNREFUSED");
    return items;
  });
  await assert.rejects(call(1));
  isDown = false;
  assert.equal(await call(2), 2);
});
