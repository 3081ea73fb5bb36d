import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { postJson, testSandbox } from "./testing.ts";

describe("the control pages", () => {
  test("the journal is filtered and paged by query", async (t) => {
    const sandbox = await testSandbox(t);
    for (const body of ["{}", "{", "{}"])
      await fetch(`${sandbox.url}/workflow`, { method: "POST", body });
    const response = await fetch(
      `${sandbox.url}/_sandbox/journal?service=workflow&accepted=true&after=0&limit=1`,
    );
    const { entries, next } = (await response.json()) as {
      entries: { seq: number }[];
      next: number;
    };
    assert.deepEqual([entries.map(({ seq }) => seq), next], [[1], 1]);
  });

  test("a bad journal query gets a 400 that names the field", async (t) => {
    const sandbox = await testSandbox(t);
    const response = await fetch(`${sandbox.url}/_sandbox/journal?accepted=maybe`);
    assert.equal(response.status, 400);
    assert.equal(
      ((await response.json()) as { issues: { field: string }[] }).issues[0]?.field,
      "accepted",
    );
  });

  test("the page shows services, faults and last calls", async (t) => {
    const sandbox = await testSandbox(t);
    await postJson(`${sandbox.url}/workflow?<script>`, {});
    await postJson(`${sandbox.url}/_sandbox/faults`, {
      service: "workflow",
      effect: "hang",
      phase: "after",
    });
    const text = await (await fetch(`${sandbox.url}/_sandbox`)).text();
    assert.match(text, new RegExp(`${sandbox.url}/workflow`));
    assert.match(text, /&quot;effect&quot;:&quot;hang&quot;/);
    assert.match(text, /<td>workflow\.run<\/td>/);
    assert.doesNotMatch(text, /<script>/);
  });
});

describe("a bad fault rule", () => {
  const bad: [name: string, body: string, issue: { field: string; message: RegExp }][] = [
    [
      "no effect",
      '{"service":"workflow","phase":"before"}',
      { field: "effect", message: /one of fail, hang/ },
    ],
    [
      "an unknown effect",
      '{"service":"workflow","effect":"melt","phase":"before"}',
      { field: "effect", message: /one of fail, hang/ },
    ],
    [
      "no phase",
      '{"service":"workflow","effect":"hang"}',
      { field: "phase", message: /"before"\|"after"/ },
    ],
    [
      "a misspelt field",
      '{"service":"workflow","effect":"hang","phase":"before","time":1}',
      { field: "", message: /"time"/ },
    ],
    [
      "an unknown service",
      '{"service":"work","effect":"hang","phase":"before"}',
      { field: "service", message: /one of workflow/ },
    ],
    [
      "an unknown operation",
      '{"service":"workflow","operation":"run","effect":"hang","phase":"before"}',
      { field: "operation", message: /workflow\.run/ },
    ],
    [
      "a delay without time",
      '{"service":"workflow","effect":"delay","phase":"before"}',
      { field: "ms", message: /number/ },
    ],
    [
      "a probability above 1",
      '{"service":"workflow","effect":"hang","phase":"before","probability":2}',
      { field: "probability", message: /<=1/ },
    ],
    [
      "a header with a line break",
      '{"service":"workflow","effect":"rate_limit","phase":"before","retryAfter":"1\\r\\nx: y"}',
      { field: "retryAfter", message: /printable/ },
    ],
    ["a rule that is no object", "[]", { field: "", message: /object/ }],
  ];
  for (const [name, body, issue] of bad) {
    test(`${name} gets a 400 that names the field`, async (t) => {
      const sandbox = await testSandbox(t);
      const response = await fetch(`${sandbox.url}/_sandbox/faults`, { method: "POST", body });
      const answer = (await response.json()) as {
        error: string;
        issues: { field: string; message: string }[];
      };
      assert.equal(response.status, 400);
      assert.equal(answer.error, "invalid fault rule");
      assert.equal(answer.issues.length, 1);
      assert.equal(answer.issues[0]?.field, issue.field);
      assert.match(answer.issues[0]?.message ?? "", issue.message);
    });
  }

  test("a rule that is not JSON gets a 400", async (t) => {
    const sandbox = await testSandbox(t);
    const response = await fetch(`${sandbox.url}/_sandbox/faults`, { method: "POST", body: "{" });
    assert.equal(response.status, 400);
    assert.deepEqual(await response.json(), { error: "the body is not JSON", issues: [] });
  });
});
