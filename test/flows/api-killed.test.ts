import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createTestUser, testSettings } from "../helpers/app.ts";
import type { TestUser } from "../helpers/app.ts";
import { testDatabase } from "../helpers/database.ts";
import { startApiProcess } from "../helpers/processes.ts";

// HERALD_FULL=1 is the full form: 300 requests that are under way when their process is killed.
const rounds = process.env["HERALD_FULL"] ? 15 : 3;
const perRound = 20;

const { url, db, owner } = await testDatabase();
const settings = testSettings(url);

async function connectedUser(): Promise<TestUser> {
  const user = await createTestUser(db);
  await owner.query(
    `insert into connected_accounts (user_id, platform, account_id, access_token, scope, expires_in, expires_at, display_name)
     values ($1, 'linkedin', 'a', 'sealed', '', 1, now() + interval '1 day', 'A')`,
    [user.userId],
  );
  return user;
}

async function post(apiUrl: string, user: TestUser, key: string): Promise<string> {
  const answer = await fetch(`${apiUrl}/v1/posts`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "svc-api-key": user.key,
      "idempotency-key": key,
    },
    body: JSON.stringify({ post: { content: { text: key, platform: "linkedin" } } }),
  });
  const body = (await answer.json()) as { postSubmissionId?: string };
  return body.postSubmissionId ?? `${answer.status} ${JSON.stringify(body)}`;
}

test("an API killed between commit and answer: the retry gets the same id, and nothing is there twice", async (t) => {
  let lost = 0;
  for (let round = 0; round < rounds; round++) {
    const users = [await connectedUser(), await connectedUser(), await connectedUser()];
    const requests = Array.from({ length: perRound }, (_, index) => ({
      key: randomUUID(),
      user: users[index % users.length] as TestUser,
    }));
    const dying = await startApiProcess(settings);
    const first = requests.map(async ({ user, key }) => await post(dying.url, user, key));
    const heard = Promise.allSettled(first);
    await Promise.any(first);
    await dying.kill();
    const before = await heard;
    const living = await startApiProcess(settings);
    const again = await Promise.all(
      requests.map(async ({ user, key }) => await post(living.url, user, key)),
    );
    await living.stop();
    for (const [index, answer] of before.entries()) {
      if (answer.status === "fulfilled") assert.equal(again[index], answer.value);
      else lost += 1;
    }
    const { rows } = await owner.query<{ id: string }>(
      "select id from submissions where content->>'text' = any($1)",
      [requests.map(({ key }) => key)],
    );
    assert.deepEqual(rows.map(({ id }) => id).sort(), again.toSorted());
  }
  t.diagnostic(`${rounds * perRound} requests, ${lost} of them without an answer at first`);
});
