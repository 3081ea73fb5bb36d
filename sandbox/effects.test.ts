import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import type { Sandbox } from "./app.ts";
import type { Service } from "./service.ts";
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

/** One struck call in the journal, accepted or not as the phase says; the next call passes. */
async function assertStruckOnce(sandbox: Sandbox, effect: string, phase: string): Promise<void> {
  const { entries } = sandbox.journal.find();
  assert.deepEqual(
    entries.map(({ accepted, outcome, notes }) => [accepted, outcome.status, notes]),
    [[phase === "after", phase === "after" ? 200 : null, [`fault 1: ${effect} ${phase}`]]],
  );
  assert.equal((await run(sandbox)).status, 200);
}

/** A call whose answer is read from the wire. */
async function rawCall(
  t: TestContext,
  sandbox: Sandbox,
): Promise<{ received: () => string; closed: Promise<unknown> }> {
  const { hostname, port } = new URL(sandbox.url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    received += text;
  });
  await once(socket, "connect");
  socket.write("POST /workflow HTTP/1.1\r\nhost: sandbox\r\ncontent-length: 2\r\n\r\n{}");
  return { received: () => received, closed: once(socket, "close") };
}

for (const phase of ["before", "after"] as const) {
  describe(`a fault ${phase} accepting`, () => {
    test("fail answers with the given status, headers and body", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, {
        effect: "fail",
        phase,
        times: 1,
        status: 502,
        headers: { "x-a": "b" },
        body: { e: 1 },
      });
      const response = await run(sandbox);
      assert.equal(response.status, 502);
      assert.equal(response.headers.get("x-a"), "b");
      assert.deepEqual(await response.json(), { e: 1 });
      await assertStruckOnce(sandbox, "fail", phase);
    });

    for (const retryAfter of ["-1", "Wed, 21 Oct 2037 07:28:00 GMT", undefined]) {
      test(`rate_limit answers 429 with Retry-After ${retryAfter ?? "absent"}`, async (t) => {
        const sandbox = await testSandbox(t);
        await addFault(sandbox, { effect: "rate_limit", phase, times: 1, retryAfter });
        const response = await run(sandbox);
        assert.equal(response.status, 429);
        assert.equal(response.headers.get("retry-after"), retryAfter ?? null);
        await assertStruckOnce(sandbox, "rate_limit", phase);
      });
    }

    test("reset cuts the connection without a byte", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, { effect: "reset", phase, times: 1 });
      const error = await run(sandbox).catch((error: unknown) => error);
      assert.ok(error instanceof TypeError);
      assert.equal((error.cause as NodeJS.ErrnoException).code, "ECONNRESET");
      await assertStruckOnce(sandbox, "reset", phase);
    });

    test("hang stays silent until the client goes", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, { effect: "hang", phase, times: 1 });
      const client = new AbortController();
      const call = postJson(`${sandbox.url}/workflow`, {}, client.signal);
      await until("the call is journaled", () => sandbox.journal.find().entries.length === 1);
      await fetch(`${sandbox.url}/_sandbox`);
      client.abort(new Error("client gave up"));
      await assert.rejects(call, { message: "client gave up" });
      await assertStruckOnce(sandbox, "hang", phase);
      await until("nothing is held", async () => {
        const { released } = (await endFaults(sandbox)) as { released: number };
        return released === 0;
      });
    });

    test("DELETE releases a hung call by cutting it", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, { effect: "hang", phase });
      const call = await rawCall(t, sandbox);
      await until("the call is journaled", () => sandbox.journal.find().entries.length === 1);
      assert.deepEqual(await endFaults(sandbox), { ended: 1, released: 1 });
      await call.closed;
      assert.equal(call.received(), "");
      assert.equal((await run(sandbox)).status, 200);
    });

    test("delay keeps the call back for its time", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, { effect: "delay", phase, times: 1, ms: 120 });
      const startedAt = performance.now();
      assert.equal((await run(sandbox)).status, 200);
      assert.ok(performance.now() - startedAt >= 119);
      const [entry] = sandbox.journal.find({ accepted: true }).entries;
      assert.deepEqual(entry?.notes, [`fault 1: delay ${phase}`]);
    });

    test("DELETE lets a delayed call go on at once", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, { effect: "delay", phase, times: 2, ms: 600_000 });
      const call = run(sandbox);
      await until("the fault has struck", async () => (await timesLeft(sandbox))[0] === 1);
      if (phase === "before") assert.equal(acceptedCalls(sandbox), 0);
      else await until("it is accepted", () => acceptedCalls(sandbox) === 1);
      await endFaults(sandbox);
      assert.equal((await call).status, 200);
      assert.equal(acceptedCalls(sandbox), 1);
    });

    test("trickle sends the answer a few bytes at a time", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, { effect: "trickle", phase, times: 1, bytes: 40, everyMs: 10 });
      const startedAt = performance.now();
      const response = await run(sandbox);
      const body = (await response.json()) as { received?: boolean };
      assert.ok(performance.now() - startedAt >= 20);
      assert.equal(response.status, phase === "after" ? 200 : 503);
      assert.equal(body.received, phase === "after" ? true : undefined);
      await assertStruckOnce(sandbox, "trickle", phase);
    });

    test("DELETE cuts a trickling answer", async (t) => {
      const sandbox = await testSandbox(t);
      await addFault(sandbox, { effect: "trickle", phase, everyMs: 600_000 });
      const call = await rawCall(t, sandbox);
      await until("the first byte came", () => call.received() !== "");
      await endFaults(sandbox);
      await call.closed;
      assert.equal(call.received(), "H");
    });

    test("malformed answers with garbage, a page or a very large body", async (t) => {
      const sandbox = await testSandbox(t);
      const answer = async (kind: string): Promise<Response> => {
        await addFault(sandbox, { effect: "malformed", phase, times: 1, kind, status: 201 });
        const response = await run(sandbox);
        assert.equal(response.status, 201);
        return response;
      };
      await assert.rejects((await answer("garbage")).json(), SyntaxError);
      assert.match(await (await answer("html")).text(), /^<!doctype html>/);
      assert.ok((await (await answer("large")).arrayBuffer()).byteLength > 10 * 1024 * 1024);
      assert.equal(acceptedCalls(sandbox), phase === "after" ? 3 : 0);
    });
  });
}

describe("expire_token", () => {
  const platform: Service = {
    name: "platform",
    basePath: "/platform",
    routes({ app, operation }) {
      app.post(
        "/posts",
        operation("platform.post", ({ tokenExpired }) =>
          tokenExpired
            ? { accepted: false, status: 401, body: { message: "Expired access token" } }
            : { accepted: true, status: 201, remoteId: "urn:1" },
        ),
      );
    },
  };

  test("the service answers as it answers an expired token", async (t) => {
    const sandbox = await testSandbox(t, [platform]);
    await addFault(sandbox, {
      service: "platform",
      effect: "expire_token",
      phase: "before",
      times: 1,
    });
    const refused = await postJson(`${sandbox.url}/platform/posts`, {});
    assert.equal(refused.status, 401);
    assert.deepEqual(await refused.json(), { message: "Expired access token" });
    assert.equal((await postJson(`${sandbox.url}/platform/posts`, {})).status, 201);
    assert.deepEqual(
      sandbox.journal.find().entries.map(({ accepted, outcome }) => [accepted, outcome]),
      [
        [false, { status: 401 }],
        [true, { status: 201, remoteId: "urn:1" }],
      ],
    );
  });

  test("it is refused after accepting", async (t) => {
    const sandbox = await testSandbox(t);
    const rule = { service: "workflow", effect: "expire_token", phase: "after" };
    const response = await postJson(`${sandbox.url}/_sandbox/faults`, rule);
    assert.equal(response.status, 400);
    assert.deepEqual(((await response.json()) as { issues: unknown }).issues, [
      { field: "phase", message: "expire_token works only before the call is accepted" },
    ]);
  });
});
