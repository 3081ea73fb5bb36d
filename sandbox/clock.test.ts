import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Sandbox } from "./app.ts";
import type { Service } from "./service.ts";
import { postJson, testSandbox } from "./testing.ts";

const hourMs = 60 * 60 * 1000;
const watch: Service = {
  name: "watch",
  basePath: "/watch",
  routes({ app, now, read }) {
    app.get(
      "/",
      read("watch.look", () => ({ status: 200, body: { now: now() } })),
    );
  },
};

async function aheadMs(sandbox: Sandbox): Promise<number> {
  const response = await fetch(`${sandbox.url}/watch`);
  return ((await response.json()) as { now: number }).now - Date.now();
}

function assertNear(actualMs: number, expectedMs: number): void {
  assert.ok(Math.abs(actualMs - expectedMs) < 2000, `${actualMs} is not about ${expectedMs}`);
}

describe("the clock", () => {
  test("is the real time until it is moved", async (t) => {
    assertNear(await aheadMs(await testSandbox(t, [watch])), 0);
  });

  test("moves ahead by every advance, and back with DELETE", async (t) => {
    const sandbox = await testSandbox(t, [watch]);
    const clockUrl = `${sandbox.url}/_sandbox/clock`;
    await postJson(clockUrl, { advanceMs: hourMs });
    const response = await postJson(clockUrl, { advanceMs: hourMs });
    const { now } = (await response.json()) as { now: string };
    assertNear(Date.parse(now) - Date.now(), 2 * hourMs);
    assertNear(await aheadMs(sandbox), 2 * hourMs);
    await fetch(clockUrl, { method: "DELETE" });
    assertNear(await aheadMs(sandbox), 0);
  });

  test("does not touch the times in the journal", async (t) => {
    const sandbox = await testSandbox(t, [watch]);
    await postJson(`${sandbox.url}/_sandbox/clock`, { advanceMs: hourMs });
    await fetch(`${sandbox.url}/watch`);
    const [entry] = sandbox.journal.find().entries;
    assertNear(Date.parse(entry?.at ?? "") - Date.now(), 0);
  });

  for (const body of [{}, { advanceMs: 0 }, { advanceMs: -1 }, { advanceMs: "1" }]) {
    test(`is not moved by ${JSON.stringify(body)}, which gets a 400 that names the field`, async (t) => {
      const sandbox = await testSandbox(t, [watch]);
      const response = await postJson(`${sandbox.url}/_sandbox/clock`, body);
      const { issues } = (await response.json()) as { issues: { field: string }[] };
      assert.deepEqual([response.status, issues[0]?.field], [400, "advanceMs"]);
      assertNear(await aheadMs(sandbox), 0);
    });
  }
});
