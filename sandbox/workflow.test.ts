import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { postJson, testSandbox } from "./testing.ts";

describe("the workflow endpoint", () => {
  test("accepts JSON and answers with an id that the journal knows", async (t) => {
    const sandbox = await testSandbox(t);
    const response = await postJson(`${sandbox.url}/workflow`, { uid: "u1" });
    const body = (await response.json()) as { received: boolean; id: string };
    assert.deepEqual([response.status, body.received], [200, true]);
    const [entry] = sandbox.journal.find({ operation: "workflow.run", accepted: true }).entries;
    assert.deepEqual(entry?.outcome, { status: 200, remoteId: body.id });
    assert.equal(entry?.request?.body, '{"uid":"u1"}');
  });

  test("refuses what is not JSON", async (t) => {
    const sandbox = await testSandbox(t);
    const response = await fetch(`${sandbox.url}/workflow`, { method: "POST", body: "{uid" });
    assert.equal(response.status, 400);
    assert.deepEqual(sandbox.journal.find({ accepted: true }).entries, []);
    assert.equal(sandbox.journal.find({ accepted: false }).entries.length, 1);
  });
});
