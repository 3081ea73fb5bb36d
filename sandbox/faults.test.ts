import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  acceptedCalls,
  addFault,
  endFaults,
  postJson,
  run,
  testSandbox,
  timesLeft,
  until,
} from "./testing.ts";

describe("fault rules", () => {
  test("times counts down and the spent rule is gone", async (t) => {
    const sandbox = await testSandbox(t);
    await addFault(sandbox, { effect: "fail", phase: "before", times: 2 });
    assert.deepEqual(await timesLeft(sandbox), [2]);
    assert.equal((await run(sandbox)).status, 500);
    assert.deepEqual(await timesLeft(sandbox), [1]);
    assert.equal((await run(sandbox)).status, 500);
    assert.deepEqual(await timesLeft(sandbox), []);
    assert.equal((await run(sandbox)).status, 200);
  });

  test("the same seed gives the same sequence, another seed another", async (t) => {
    const sandbox = await testSandbox(t);
    const sequence = async (seed: number): Promise<string> => {
      await addFault(sandbox, { effect: "fail", phase: "before", probability: 0.5, seed });
      const statuses: number[] = [];
      for (let call = 0; call < 40; call++) statuses.push((await run(sandbox)).status);
      await endFaults(sandbox);
      return statuses.join(" ");
    };
    const first = await sequence(7);
    assert.match(first, /200.*500|500.*200/);
    assert.equal(await sequence(7), first);
    assert.notEqual(await sequence(8), first);
  });

  test("a probability without a seed is given one that is shown", async (t) => {
    const sandbox = await testSandbox(t);
    const rule = { service: "workflow", effect: "hang", phase: "before", probability: 0.1 };
    const response = await postJson(`${sandbox.url}/_sandbox/faults`, rule);
    assert.equal(typeof ((await response.json()) as { seed: unknown }).seed, "number");
  });

  test("match strikes only calls whose path or body holds it", async (t) => {
    const sandbox = await testSandbox(t);
    await addFault(sandbox, { effect: "fail", phase: "before", match: "alice" });
    assert.equal((await run(sandbox, { uid: "bob" })).status, 200);
    assert.equal((await run(sandbox, { uid: "alice" })).status, 500);
    assert.equal((await postJson(`${sandbox.url}/workflow?uid=alice`, {})).status, 500);
  });

  test("operation strikes only that operation", async (t) => {
    const sandbox = await testSandbox(t);
    await addFault(sandbox, { effect: "fail", phase: "before", operation: "workflow.unknown" });
    assert.equal((await run(sandbox)).status, 200);
    assert.equal((await fetch(`${sandbox.url}/workflow/nowhere`)).status, 500);
  });

  test("a refused call gets its refusal and does not use up an after fault", async (t) => {
    const sandbox = await testSandbox(t);
    await addFault(sandbox, { effect: "fail", phase: "after", times: 1 });
    assert.equal(
      (await fetch(`${sandbox.url}/workflow`, { method: "POST", body: "{" })).status,
      400,
    );
    assert.equal((await run(sandbox)).status, 500);
    assert.equal(acceptedCalls(sandbox), 1);
  });

  test("a stopped sandbox leaves no delayed call behind", async (t) => {
    const sandbox = await testSandbox(t);
    await addFault(sandbox, { effect: "delay", phase: "after", ms: 600_000 });
    const call = run(sandbox);
    await until("it is accepted", () => acceptedCalls(sandbox) === 1);
    await sandbox.close();
    await Promise.allSettled([call]);
    assert.equal(process.getActiveResourcesInfo().includes("Timeout"), false);
  });
});
