import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { postJson, until } from "../../sandbox/testing.ts";
import { PlatformError } from "../../src/platforms/index.ts";
import {
  failureOf,
  isAccepted,
  listening,
  outcomeOf,
  patienceFor,
  sceneOf,
} from "./adapter-scene.ts";
import type { Rule, Scene, Subject } from "./adapter-scene.ts";

const post = { text: "Once, and only once" };

/** What every adapter does, whatever happens to the platform or on the way to it. */
export function adapterSuite(subject: Subject): void {
  const { service } = subject;
  const scene = (t: TestContext): Promise<Scene> => sceneOf(t, subject);

  describe(`${service}: a post`, () => {
    const texts = [
      "Hello",
      "two\nlines\r\nand\ttabs",
      `"quotes" 'and' \\backslashes\\ </script>&amp;%20+{}[]()*_~|#tag @name`,
      "naïve 日本語 עברית 👩‍👩‍👧‍👦 e\u0301 \u2028\u00a0\u200d",
    ];
    for (const text of texts) {
      test(`is published once and as it was written: ${JSON.stringify(text)}`, async (t) => {
        const { adapter, call, attempts } = await scene(t);
        const published = await adapter.publish({ text }, call());
        const [entry, ...more] = attempts();
        assert.deepEqual([entry?.accepted, more], [true, []]);
        assert.equal(subject.textIn(entry?.request?.body ?? ""), text);
        assert.equal(published.remoteId, entry?.outcome.remoteId);
      });
    }

    test("has an address at which it can be seen", async (t) => {
      const { adapter, call } = await scene(t);
      const { remoteId, url } = await adapter.publish(post, call());
      assert.ok(remoteId && url);
      assert.equal(url, adapter.permalink(remoteId));
      assert.match(await (await fetch(url)).text(), new RegExp(post.text));
    });

    test("may be as long as the adapter says, and no longer", async (t) => {
      const { adapter, call } = await scene(t);
      const { max } = adapter.accepts.text ?? { max: 0 };
      await adapter.publish({ text: "x".repeat(max) }, call());
      const refusal = await failureOf(adapter.publish({ text: "x".repeat(max + 1) }, call()));
      assert.equal(refusal.kind, "rejected");
      assert.ok(refusal.upstreamBody);
    });

    test("that is repeated goes out with the same bytes, and is refused where that is promised", async (t) => {
      const { adapter, sandbox, call, attempts } = await scene(t);
      const first = await adapter.publish(post, call());
      const advanceMs = adapter.refusesRepeatsForMs;
      if (advanceMs) await postJson(`${sandbox.url}/_sandbox/clock`, { advanceMs });
      const second = await outcomeOf(adapter.publish(post, call()));
      const [sent, sentAgain] = attempts().map(({ request }) => request?.body);
      assert.equal(sent, sentAgain);
      if (!advanceMs) return;
      assert.ok(second instanceof PlatformError);
      assert.deepEqual([second.kind, second.remoteId], ["duplicate", first.remoteId]);
    });
  });

  describe(`${service}: a profile`, () => {
    test("names the account and its owner", async (t) => {
      const { adapter, call } = await scene(t);
      const { accountId, displayName } = await adapter.profile(call());
      assert.ok(accountId && displayName);
    });

    const faults: [name: string, rule: Rule, kind: PlatformError["kind"]][] = [
      ["is reset", { effect: "reset", phase: "before" }, "retry"],
      ["never comes", { effect: "hang", phase: "after" }, "retry"],
      ["is 500", { effect: "fail", phase: "before" }, "retry"],
      ["is 429", { effect: "rate_limit", phase: "before" }, "retry"],
      ["is a page", { effect: "malformed", phase: "after", kind: "html" }, "retry"],
      ["is garbage", { effect: "malformed", phase: "after", kind: "garbage" }, "retry"],
      ["is 10 MB", { effect: "malformed", phase: "after", kind: "large" }, "retry"],
      ["refuses the token", { effect: "expire_token", phase: "before" }, "reconnect"],
    ];
    for (const [name, rule, kind] of faults) {
      test(`is ${kind} when the answer ${name}`, async (t) => {
        const { adapter, call, fault } = await scene(t);
        await fault({ operation: subject.operations.profile, ...rule });
        assert.equal((await failureOf(adapter.profile(call(patienceFor(rule))))).kind, kind);
      });
    }
  });

  describe(`${service}: a disturbed publish is sent once, and`, () => {
    test("is to be repeated when the platform can't be reached", async (t) => {
      const { call } = await scene(t);
      const gone = createServer();
      const adapter = subject.adapterAt(await listening(t, gone));
      gone.close();
      await once(gone, "close");
      assert.equal((await failureOf(adapter.publish(post, call()))).kind, "retry");
    });

    const trickle = { effect: "trickle", bytes: 1, everyMs: 50 };
    const doubts: [name: string, rule: Rule, accepted: number][] = [
      ["the connection is reset before the post is taken", { effect: "reset", phase: "before" }, 0],
      ["the connection is reset after the post was taken", { effect: "reset", phase: "after" }, 1],
      ["the answer hangs before the post is taken", { effect: "hang", phase: "before" }, 0],
      ["the answer hangs after the post was taken", { effect: "hang", phase: "after" }, 1],
      ["the answer trickles", { ...trickle, phase: "after" }, 1],
      ...[500, 502, 503, 504].map((status): [string, Rule, number] => [
        `the answer is ${status} after the post was taken`,
        { effect: "fail", phase: "after", status },
        1,
      ]),
    ];
    for (const [name, rule, accepted] of doubts) {
      test(`is in doubt when ${name}`, async (t) => {
        const { adapter, call, fault, attempts } = await scene(t);
        await fault(rule);
        const error = await failureOf(adapter.publish(post, call(patienceFor(rule))));
        assert.equal(error.kind, "unknown");
        await until("the call is in the journal", () => attempts().length > 0);
        assert.deepEqual([attempts().length, attempts().filter(isAccepted).length], [1, accepted]);
      });
    }

    for (const kind of ["garbage", "html", "large"]) {
      for (const status of [200, 201]) {
        test(`is never to be repeated when a taken post is answered ${status} with ${kind}`, async (t) => {
          const { adapter, call, fault, attempts } = await scene(t);
          await fault({ effect: "malformed", phase: "after", kind, status });
          const outcome = await outcomeOf(adapter.publish(post, call()));
          if (outcome instanceof PlatformError) {
            assert.equal(outcome.kind, "unknown");
            assert.ok((outcome.upstreamBody ?? "").length <= 2_000);
          } else assert.equal(outcome.remoteId, null);
          assert.equal(attempts().length, 1);
        });
      }
    }

    for (const status of [301, 302, 303, 307, 308]) {
      test(`is in doubt when it is sent elsewhere with ${status}, and the token is not`, async (t) => {
        const { adapter, call, fault, attempts } = await scene(t);
        let visits = 0;
        const elsewhere = createServer((socket) => {
          visits += 1;
          socket.destroy();
        });
        const location = await listening(t, elsewhere);
        await fault({ effect: "fail", phase: "before", status, headers: { location } });
        assert.equal((await failureOf(adapter.publish(post, call()))).kind, "unknown");
        assert.deepEqual([attempts().length, visits], [1, 0]);
      });
    }

    test("is done, without an id, when the platform told none", async (t) => {
      const { adapter, call, fault, attempts } = await scene(t);
      await fault({ effect: "strip", phase: "after", headers: subject.idHeaders, body: true });
      assert.deepEqual(await adapter.publish(post, call()), { remoteId: null, url: null });
      assert.equal(attempts().filter(isAccepted).length, 1);
    });

    test("needs a new token when this one is refused", async (t) => {
      const { adapter, call, fault, attempts } = await scene(t);
      await fault({ effect: "expire_token", phase: "before" });
      const { kind, upstreamStatus } = await failureOf(adapter.publish(post, call()));
      assert.deepEqual([kind, upstreamStatus], ["reconnect", 401]);
      assert.deepEqual(attempts().map(isAccepted), [false]);
    });

    const minute = 60_000;
    const inTwoMinutes = new Date(Date.now() + 2 * minute).toUTCString();
    const waits: [retryAfter: string | undefined, isRight: (seconds: number) => boolean][] = [
      ["120", (seconds) => seconds === 120],
      [inTwoMinutes, (seconds) => seconds > 0 && seconds <= 120],
      ["-5", (seconds) => seconds === -5],
      ["1000000000", (seconds) => seconds === 1_000_000_000],
      ["soon 1", (seconds) => seconds > 0 && seconds <= 86_400],
      [undefined, (seconds) => seconds > 0 && seconds <= 86_400],
    ];
    for (const [retryAfter, isRight] of waits) {
      const said = retryAfter === inTwoMinutes ? "a date" : String(retryAfter);
      test(`is to be repeated after a 429, with Retry-After ${said}`, async (t) => {
        const { adapter, call, fault, attempts } = await scene(t);
        await fault({ effect: "rate_limit", phase: "before", ...(retryAfter && { retryAfter }) });
        const error = await failureOf(adapter.publish(post, call()));
        assert.deepEqual([error.kind, error.upstreamStatus], ["retry", 429]);
        // A platform without a rule of its own leaves the wait to the caller.
        assert.ok(isRight(error.retryAfterSeconds ?? 1), String(error.retryAfterSeconds));
        assert.deepEqual(attempts().map(isAccepted), [false]);
      });
    }
  });
}
