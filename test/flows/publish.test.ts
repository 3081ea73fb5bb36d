import assert from "node:assert/strict";
import { after, test } from "node:test";
import { postsStage, textPost } from "../helpers/posts.ts";

const stage = await postsStage();
const { post, settled, fault, endFaults, accepted } = stage;
const user = await stage.connectedUser("Ada1815_Lv");
const worker = await stage.startWorker();
after(async () => await worker.stop());
const countOf = async (text: string): Promise<number> =>
  (await accepted()).filter((each) => each === text).length;

async function publish(text: string) {
  const { status, body } = await post(user, textPost(text));
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.postSubmissionId, found: await settled(user, body.postSubmissionId) };
}

test("a post is published once, and its run tells where", async () => {
  const { found } = await publish("from end to end");
  const [run] = found.runs;
  assert.deepEqual([found.status, run?.status, run?.error], ["dispatched", "succeeded", null]);
  assert.match(run?.remoteId ?? "", /^urn:li:(share|ugcPost):\d+$/);
  assert.match(run?.url ?? "", /\/feed\/update\//);
  assert.equal(await countOf("from end to end"), 1);
});

for (const [name, rule] of [
  ["500 after accepting", { effect: "fail", status: 500, phase: "after" }],
  ["a reset after accepting", { effect: "reset", phase: "after" }],
  ["500 before accepting", { effect: "fail", status: 500, phase: "before" }],
  ["a reset before accepting", { effect: "reset", phase: "before" }],
  ["429 with a second to wait", { effect: "rate_limit", retryAfter: "1", phase: "before" }],
] as const) {
  test(`${name}: the post is there once, and the run knows it`, async () => {
    await fault({ ...rule, times: 1 });
    const text = `survives ${name}`;
    const { found } = await publish(text);
    assert.deepEqual([found.runs[0]?.status, found.runs[0]?.error], ["succeeded", null]);
    assert.equal(await countOf(text), 1);
    await endFaults();
  });
}

test("a refused token fails the run, marks the account, and says so", async () => {
  const other = await stage.connectedUser("Grace1906H");
  await fault({ effect: "expire_token", phase: "before", times: 1 });
  const { body } = await post(other, textPost("with an old token"));
  const found = await settled(other, body.postSubmissionId);
  assert.equal(found.runs[0]?.error?.code, "token_expired");
  const accounts = await stage.app.inject({
    url: "/v1/accounts",
    headers: { "svc-api-key": other.key },
  });
  assert.equal(
    accounts.json<{ accounts: { status: string }[] }>().accounts[0]?.status,
    "needs_reconnect",
  );
  await endFaults();
});

test("the same text on purpose is refused by the platform and failed as a duplicate, with the platform's words", async () => {
  await publish("said twice");
  const { found, id } = await publish("said twice");
  assert.equal(found.runs[0]?.error?.code, "duplicate_content");
  assert.equal(await countOf("said twice"), 1);
  // Failed targets can be tried again; this one fails the same way.
  const retried = await stage.app.inject({
    method: "POST",
    url: `/v1/posts/${id}/retry`,
    headers: { "svc-api-key": user.key },
  });
  assert.deepEqual(retried.json(), { retried: ["linkedin:Ada1815_Lv"] });
  assert.equal((await settled(user, id)).runs[0]?.error?.code, "duplicate_content");
});

test("an account that was disconnected before the hour fails its own run only", async () => {
  const leaving = await stage.connectedUser("Ada1815_Lv", "Alan1912_T");
  const targets = ["Ada1815_Lv", "Alan1912_T"].map((accountId) => ({
    platform: "linkedin",
    accountId,
  }));
  const { body } = await post(leaving, {
    ...textPost("one of two", targets),
    scheduledTime: new Date(Date.now() + 61_000).toISOString(),
  });
  await stage.app.inject({
    method: "DELETE",
    url: "/v1/accounts/linkedin/Alan1912_T",
    headers: { "svc-api-key": leaving.key },
  });
  await stage.app.inject({
    method: "PATCH",
    url: `/v1/posts/${body.postSubmissionId}`,
    headers: { "svc-api-key": leaving.key },
    payload: { scheduledTime: null },
  });
  const found = await settled(leaving, body.postSubmissionId);
  assert.deepEqual(
    found.runs.map((run) => run.error?.code ?? run.status),
    ["succeeded", "account_disconnected"],
  );
});

test("attempts are kept: when, what as a hash, and what became of it", async () => {
  await fault({ effect: "fail", status: 503, phase: "after", times: 1 });
  await publish("with a history");
  const { rows } = await stage.owner.query<{ outcome: string }>(
    `select a.outcome, a.body_hash from attempts a join runs r on r.id = a.run_id join submissions s on s.id = r.submission_id
     where s.content->>'text' = 'with a history' order by a.number`,
  );
  assert.equal(rows.length, 2);
  assert.equal(
    new Set(rows.map((row) => (row as unknown as { body_hash: string }).body_hash)).size,
    1,
  );
  await endFaults();
});
