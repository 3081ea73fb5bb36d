import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sandboxSettings } from "../../src/quick-start.ts";
import { testSettings } from "../helpers/app.ts";
import { testDatabase } from "../helpers/database.ts";
import { checkoutEvent, lifeOf, newStory, signedRequest } from "../helpers/payment-events.ts";
import type { Story, WireEvent } from "../helpers/payment-events.ts";
import { outcomeOf, paymentSandbox } from "../helpers/payment-stage.ts";
import { startApiProcess } from "../helpers/processes.ts";
import { until } from "../helpers/until.ts";

// HERALD_FULL=1 is the full form: 300 events that are under way when their process is killed.
const rounds = process.env["HERALD_FULL"] ? 15 : 3;
const perRound = 20;

const sandbox = await paymentSandbox();
const { url, db } = await testDatabase();
const settings = { ...testSettings(url), ...sandboxSettings(sandbox.url) };

async function post(apiUrl: string, event: WireEvent): Promise<number> {
  const { method, url, headers, payload } = signedRequest(event);
  const answer = await fetch(apiUrl + url, { method, headers, body: payload });
  await answer.body?.cancel();
  return answer.status;
}

async function countStored(events: readonly WireEvent[]): Promise<number> {
  const { rowCount } = await db.query("select from payment_events where id = any($1)", [
    events.map(({ id }) => id),
  ]);
  return rowCount ?? 0;
}

async function assertGrantedOnce(stories: readonly Story[]): Promise<void> {
  for (const story of stories) {
    const { subscription, balance, ledger } = await outcomeOf(db, story);
    assert.deepEqual([subscription?.["status"], balance, ledger.length], ["trialing", 60, 1]);
  }
}

let api = await startApiProcess(settings);
after(async () => await api.stop());

test("a process killed with events under way: told again, each has one effect", async (t) => {
  let unanswered = 0;
  let committed = 0;
  for (let round = 0; round < rounds; round++) {
    const stories = Array.from({ length: perRound }, () => newStory());
    const events = stories.flatMap((story) => lifeOf(story).slice(0, 1));
    const first = events.map(async (event) => await post(api.url, event));
    const heard = Promise.allSettled(first);
    await Promise.any(first);
    await api.kill();
    const lost = (await heard).filter(({ status }) => status === "rejected").length;
    unanswered += lost;
    committed += (await countStored(events)) - (perRound - lost);
    api = await startApiProcess(settings);
    const again = await Promise.all(events.map(async (event) => await post(api.url, event)));
    assert.deepEqual(new Set(again), new Set([200]));
    assert.equal(await countStored(events), perRound);
    await assertGrantedOnce(stories);
  }
  t.diagnostic(
    `${rounds * perRound} events, ${unanswered} unanswered, ${committed} of them committed`,
  );
});

test("a process killed between commit and answer: told again, the event has no second effect", async () => {
  const stories = Array.from({ length: 10 }, () => newStory());
  const checkouts = stories.map((story) => checkoutEvent(story, 2));
  for (const event of stories.flatMap((story) => lifeOf(story).slice(0, 1)))
    assert.equal(await post(api.url, event), 200);
  // A checkout's event is committed before the provider is asked for its subscription.
  await sandbox.control("/_sandbox/faults", {
    service: "payments",
    operation: "payments.subscriptions.retrieve",
    phase: "before",
    effect: "hang",
  });
  const heard = Promise.allSettled(checkouts.map(async (event) => await post(api.url, event)));
  await until(async () => (await countStored(checkouts)) === checkouts.length);
  await api.kill();
  assert.ok((await heard).every(({ status }) => status === "rejected"));
  await sandbox.control("/_sandbox/faults");
  await assertGrantedOnce(stories);
  api = await startApiProcess(settings);
  for (const event of checkouts) assert.equal(await post(api.url, event), 200);
  await assertGrantedOnce(stories);
});
