import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Sandbox } from "./app.ts";
import type { Service } from "./service.ts";
import { addFault, postJson, testSandbox } from "./testing.ts";

const platform: Service = {
  name: "platform",
  basePath: "/platform",
  routes({ app, operation }) {
    app.post(
      "/posts",
      operation("platform.post", () => ({
        accepted: true,
        status: 201,
        headers: { "X-RestLi-Id": "urn:1", "x-kept": "yes" },
        body: { id: "urn:1" },
        remoteId: "urn:1",
      })),
    );
  },
};

const strip = (sandbox: Sandbox, rule: object): Promise<void> =>
  addFault(sandbox, { service: "platform", effect: "strip", phase: "after", times: 1, ...rule });

describe("strip", () => {
  const cases = [
    { rule: { headers: ["x-restli-id"] }, id: null, body: '{"id":"urn:1"}' },
    { rule: { body: true }, id: "urn:1", body: "" },
    { rule: { headers: ["x-restli-id"], body: true }, id: null, body: "" },
  ];
  for (const { rule, id, body } of cases) {
    test(`${JSON.stringify(rule)} takes that from the answer and leaves the rest`, async (t) => {
      const sandbox = await testSandbox(t, [platform]);
      await strip(sandbox, rule);
      const response = await postJson(`${sandbox.url}/platform/posts`, {});
      assert.deepEqual(
        [response.status, response.headers.get("x-restli-id"), await response.text()],
        [201, id, body],
      );
      assert.equal(response.headers.get("x-kept"), "yes");
      const [entry] = sandbox.journal.find().entries;
      assert.deepEqual(
        [entry?.accepted, entry?.outcome.remoteId, entry?.notes],
        [true, "urn:1", ["fault 1: strip after"]],
      );
    });
  }

  const refused = [
    { rule: { phase: "before", body: true }, message: "strip needs an answer of the service" },
    { rule: { phase: "after" }, message: "must strip headers or the body" },
  ];
  for (const { rule, message } of refused) {
    test(`is refused with ${JSON.stringify(rule)}`, async (t) => {
      const sandbox = await testSandbox(t, [platform]);
      const full = { service: "platform", effect: "strip", ...rule };
      const response = await postJson(`${sandbox.url}/_sandbox/faults`, full);
      const { issues } = (await response.json()) as { issues: { message: string }[] };
      assert.deepEqual([response.status, issues[0]?.message], [400, message]);
    });
  }
});
