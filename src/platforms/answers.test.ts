import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { bodyAs, retryAfterSeconds, timeAt } from "./answers.ts";

const date = "Sun, 15 Nov 2026 12:00:00 GMT";
const answer = (headers: Record<string, string>, body = "") => ({ status: 429, headers, body });

const waits: [asked: string, seconds: number | undefined][] = [
  ["120", 120],
  ["0", 0],
  ["-5", -5],
  ["1000000000", 1_000_000_000],
  ["Sun, 15 Nov 2026 12:02:00 GMT", 120],
  ["Sun, 15 Nov 2026 11:59:00 GMT", -60],
  ["", undefined],
  ["soon 1", undefined],
  ["5.5", undefined],
  ["9".repeat(400), undefined],
  ["Xyz, 99 Abc 2026 99:99:99 GMT", undefined],
];
for (const [asked, seconds] of waits) {
  test(`a Retry-After of "${asked.slice(0, 40)}" is ${seconds} seconds`, () => {
    assert.equal(retryAfterSeconds(answer({ date, "retry-after": asked })), seconds);
  });
}

test("the time is the platform's where it tells it, else this machine's", () => {
  assert.equal(timeAt(answer({ date })), Date.parse(date));
  for (const headers of [{}, { date: "today" }]) {
    assert.ok(Math.abs(timeAt(answer(headers as Record<string, string>)) - Date.now()) < 1_000);
  }
});

test("a body that is not what was expected is nothing, and no error", () => {
  const shape = z.object({ id: z.string() });
  assert.deepEqual(bodyAs(shape, answer({}, '{"id":"a","more":1}')), { id: "a" });
  for (const body of ["", "null", "[]", '{"id":1}', '{"id":"a', "<html>"]) {
    assert.equal(bodyAs(shape, answer({}, body)), undefined);
  }
});
