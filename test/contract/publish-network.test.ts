import assert from "node:assert/strict";
import { test } from "node:test";
import { postsStage } from "../helpers/posts.ts";
import { signInOver } from "../helpers/tokens.ts";

const stage = await postsStage();

async function signedIn(...members: string[]) {
  const { user, who } = await stage.connectedPerson(...members);
  const { token } = await signInOver(stage.config.urls.base, stage.config.urls.web, who);
  const publish = async (payload: object) => {
    const answer = await stage.app.inject({
      method: "POST",
      url: "/functions/publishNetwork",
      headers: { authorization: `Bearer ${token}` },
      payload,
    });
    return { status: answer.statusCode, body: answer.json<Answer>() };
  };
  return { user, publish };
}

interface Answer {
  success: boolean;
  id?: string;
  url?: string;
  accountId?: string;
  error?: {
    code: string;
    details?: { code?: string; upstreamStatus?: number; upstreamBody?: string };
  };
}

test("with one account the text is published at once, and the post is recorded", async () => {
  const { user, publish } = await signedIn("Ada1815_Lv");
  const { status, body } = await publish({ text: "right now" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.success, body.accountId], [true, "Ada1815_Lv"]);
  assert.match(body.id ?? "", /^urn:li:(share|ugcPost):\d+$/);
  assert.deepEqual(await stage.accepted(), ["right now"]);
  const { rows } = await stage.owner.query(
    "select r.remote_id, r.status from runs r where user_id = $1",
    [user.userId],
  );
  assert.deepEqual(rows, [{ remote_id: body.id, status: "succeeded" }]);
  assert.equal(
    (
      await stage.owner.query(
        "select from graphile_worker.jobs where task_identifier = 'posts.publish'",
      )
    ).rowCount,
    0,
  );
});

test("several accounts and no accountId: 400 missing_account; with one it is published there", async () => {
  const { publish } = await signedIn("Ada1815_Lv", "Grace1906H");
  const refused = await publish({ text: "where?" });
  assert.deepEqual(
    [refused.status, refused.body.success, refused.body.error?.code],
    [400, false, "missing_account"],
  );
  const { body } = await publish({ text: "there", accountId: "Grace1906H" });
  assert.equal(body.accountId, "Grace1906H");
});

test("no account, an unknown one, or no ID token is refused", async () => {
  const { publish } = await signedIn();
  assert.equal((await publish({ text: "x" })).body.error?.code, "missing_integrations");
  assert.equal(
    (await publish({ text: "x", accountId: "nobody" })).body.error?.code,
    "missing_integrations",
  );
  const stranger = await stage.app.inject({
    method: "POST",
    url: "/functions/publishNetwork",
    payload: { text: "x" },
  });
  assert.deepEqual([stranger.statusCode, stranger.json<Answer>().success], [401, false]);
});

test("what the platform refuses is 400 with its own words", async () => {
  const { publish } = await signedIn("Alan1912_T");
  await publish({ text: "twice" });
  const { status, body } = await publish({ text: "twice" });
  assert.deepEqual(
    [status, body.error?.code, body.error?.details?.upstreamStatus],
    [400, "publish_failed", 422],
  );
  assert.match(body.error?.details?.upstreamBody ?? "", /duplicate/i);
});

test("a lost answer is told as such, and a worker finds out what became of it", async () => {
  const { user, publish } = await signedIn("Kath1918_J");
  await stage.fault({ effect: "fail", status: 500, phase: "after", times: 1 });
  const { status, body } = await publish({ text: "lost and found" });
  assert.deepEqual([status, body.error?.details?.code], [400, "outcome_unknown"]);
  await stage.owner.query("update graphile_worker._private_jobs set run_at = now()");
  const worker = await stage.startWorker();
  try {
    const { rows } = await stage.owner.query<{ id: string }>(
      "select id from submissions where user_id = $1",
      [user.userId],
    );
    assert.equal((await stage.settled(user, rows[0]?.id ?? "")).runs[0]?.status, "succeeded");
  } finally {
    await worker.stop();
  }
  assert.equal((await stage.accepted()).filter((text) => text === "lost and found").length, 1);
});

test("an account stored without its author is completed, and stays so", async () => {
  const { user, publish } = await signedIn("Ada1815_Lv");
  await stage.owner.query("update connected_accounts set author_urn = null where user_id = $1", [
    user.userId,
  ]);
  assert.equal((await publish({ text: "by whom?" })).status, 200);
  const { rows } = await stage.owner.query(
    "select author_urn from connected_accounts where user_id = $1",
    [user.userId],
  );
  assert.deepEqual(rows, [{ author_urn: "urn:li:person:Ada1815_Lv" }]);
});
