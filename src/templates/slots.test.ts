import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../errors.ts";
import { createSlots } from "./slots.ts";

test("so many run at once, the others in order, and one too many is told to come back", async () => {
  const slots = createSlots(2, 3);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const act = (number: number) => async (): Promise<number> => {
    begun.push(number);
    await new Promise<void>((resolve) => ends.push(resolve));
    return number;
  };
  const running = [1, 2, 3, 4, 5].map(async (number) => await slots(act(number)));
  await assert.rejects(slots(act(6)), (error) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.code, error.retryAfterSeconds], ["service_unavailable", 5]);
    return true;
  });
  assert.deepEqual(begun, [1, 2]);
  for (const expected of [
    [1, 2, 3],
    [1, 2, 3, 4],
    [1, 2, 3, 4, 5],
  ]) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(begun, expected);
  }
  for (const end of ends) end();
  assert.deepEqual(await Promise.all(running), [1, 2, 3, 4, 5]);

  ends.length = 0;
  const later = [7, 8, 9].map(async (number) => await slots(act(number)));
  assert.deepEqual(begun.slice(5), [7, 8]);
  ends.shift()?.();
  await new Promise((resolve) => setImmediate(resolve));
  for (const end of ends) end();
  assert.deepEqual(await Promise.all(later), [7, 8, 9]);
});

test("a failure frees its slot", async () => {
  const slots = createSlots(1, 0);
  await assert.rejects(
    slots(async () => await Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal(await slots(async () => 7), 7);
});
