import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestUser } from "../helpers/app.ts";
import { postsStage, textPost } from "../helpers/posts.ts";

const stage = await postsStage();
const ada = await stage.connectedUser("Ada1815_Lv");
const both = await stage.connectedUser("Ada1815_Lv", "Grace1906H");
const { post, read } = stage;
const inMs = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();
const detail = (body: Awaited<ReturnType<typeof post>>["body"]) => body.error?.details?.[0];

test("a post is accepted with 201 and a submission id in UUID form, and is queued", async () => {
  const { status, body } = await post(ada, textPost("hello"));
  assert.equal(status, 201);
  assert.match(
    body.postSubmissionId,
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  );
  assert.equal((await read(ada, body.postSubmissionId)).status, "queued");
});

for (const [name, platform] of [
  ["a name", "linkedin"],
  ["an alias", "network"],
  ["an object", { platform: "linkedin", accountId: "Ada1815_Lv" }],
  [
    "an array of both forms for one target",
    ["linkedin", { platform: "network", accountId: "Ada1815_Lv" }],
  ],
] as const) {
  test(`the platform may be ${name}, and makes one target`, async () => {
    const { status, body } = await post(ada, textPost("hello", platform));
    assert.equal(status, 201, JSON.stringify(body));
    const { targets } = (await read(ada, body.postSubmissionId)) as unknown as {
      targets: unknown[];
    };
    assert.deepEqual(targets, [
      { platform: "linkedin", accountId: "Ada1815_Lv", targetId: "linkedin:Ada1815_Lv" },
    ]);
  });
}

test("two targets on one account stay two under their own target ids", async () => {
  const platform = ["a", "b"].map((targetId) => ({
    platform: "linkedin",
    accountId: "Ada1815_Lv",
    targetId,
  }));
  const { body } = await post(ada, textPost("hello", platform));
  const { targets } = (await read(ada, body.postSubmissionId)) as unknown as { targets: unknown[] };
  assert.equal(targets.length, 2);
});

test("several accounts and no accountId: 400 account_required, naming the accounts", async () => {
  const { status, body } = await post(both, textPost("hello"));
  assert.deepEqual(
    [status, body.error?.code, detail(body)?.code],
    [400, "validation_error", "account_required"],
  );
  assert.match(detail(body)?.message ?? "", /Ada1815_Lv.*Grace1906H/);
});

test("a platform that is not connected, or an unknown account: 400 missing_integrations", async () => {
  const stranger = await createTestUser(stage.db);
  for (const [user, platform] of [
    [stranger, "linkedin"],
    [ada, "tiktok"],
    [ada, { platform: "linkedin", accountId: "nobody" }],
  ] as const) {
    const { status, body } = await post(user, textPost("hello", platform));
    assert.deepEqual([status, body.error?.code], [400, "missing_integrations"]);
  }
});

for (const platform of ["LinkedIn", "myspace", "", 7, [], null]) {
  test(`platform ${JSON.stringify(platform)} is 400 validation_error`, async () => {
    const { status, body } = await post(ada, textPost("hello", platform));
    assert.deepEqual([status, body.error?.code], [400, "validation_error"]);
  });
}

for (const [name, scheduledTime] of [
  ["59 seconds ahead", inMs(59_000)],
  ["in the past", inMs(-1)],
  ["without a zone", "2030-01-01T10:00:00"],
  ["on 30 February", "2030-02-30T10:00:00Z"],
  ["at 24:00", "2030-01-01T24:00:00Z"],
  ["a word", "tomorrow"],
  ["a number", 1_893_456_000],
] as const) {
  test(`a time ${name} is 400 validation_error at body.scheduledTime`, async () => {
    const { status, body } = await post(ada, { ...textPost("hello"), scheduledTime });
    assert.deepEqual(
      [status, body.error?.code, detail(body)?.field],
      [400, "validation_error", "body.scheduledTime"],
    );
  });
}

test("a time a minute ahead, with any offset, is kept; null means now", async () => {
  const { body } = await post(ada, {
    ...textPost("later"),
    scheduledTime: "2099-01-01T12:00:00+02:00",
  });
  assert.equal((await read(ada, body.postSubmissionId)).scheduledTime, "2099-01-01T10:00:00.000Z");
  const now = await post(ada, { ...textPost("now"), scheduledTime: null });
  assert.equal((await read(ada, now.body.postSubmissionId)).scheduledTime, null);
});

test("a field in the wrong place is refused by its own path", async () => {
  const body = {
    post: { content: { text: "x", platform: "linkedin" }, scheduledTime: inMs(120_000) },
  };
  const answer = await post(ada, body);
  assert.deepEqual([answer.status, detail(answer.body)?.field], [400, "body.post.scheduledTime"]);
});

test("nothing to publish is refused; so is what the platform is certain to refuse", async () => {
  const nothing = await post(ada, textPost("   "));
  assert.deepEqual([nothing.status, detail(nothing.body)?.code], [400, "empty_post"]);
  const long = await post(ada, textPost("x".repeat(3_001)));
  assert.deepEqual([long.status, detail(long.body)?.code], [400, "platform_rule"]);
  assert.match(detail(long.body)?.message ?? "", /linkedin.*3000/i);
  assert.equal((await post(ada, textPost("x".repeat(3_000)))).status, 201);
});

test("validate names every problem at once and publishes nothing", async () => {
  const payload = {
    ...textPost("x".repeat(3_001), ["linkedin", "tiktok", "myspace"]),
    scheduledTime: inMs(1_000),
  };
  const answer = await stage.app.inject({
    method: "POST",
    url: "/v1/posts/validate",
    headers: { "svc-api-key": ada.key },
    payload,
  });
  const { valid, problems } = answer.json<{ valid: boolean; problems: { code: string }[] }>();
  assert.equal(valid, false);
  assert.deepEqual(problems.map((problem) => problem.code).sort(), [
    "invalid_enum_value",
    "missing_integration",
    "platform_rule",
    "too_early",
  ]);
});

test("50 parallel calls with one idempotency key make one submission", async () => {
  const headers = { "idempotency-key": "one" };
  const answers = await Promise.all(
    Array.from(
      { length: 28 },
      async () =>
        await post(
          both,
          textPost("once", { platform: "linkedin", accountId: "Grace1906H" }),
          headers,
        ),
    ),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(answers.map(({ body }) => body.postSubmissionId)).size, 1);
  const conflict = await post(
    both,
    textPost("other", { platform: "linkedin", accountId: "Grace1906H" }),
    headers,
  );
  assert.deepEqual([conflict.status, conflict.body.error?.code], [409, "idempotency_conflict"]);
});

test("a repeat is answered like the first, also when its time or its account has gone meanwhile", async () => {
  const user = await stage.connectedUser("Alan1912_T");
  const headers = { "idempotency-key": "again" };
  const body = { ...textPost("hello"), scheduledTime: inMs(61_000) };
  const first = await post(user, body, headers);
  await stage.db.query("delete from connected_accounts where user_id = $1", [user.userId]);
  const second = await post(user, body, headers);
  assert.deepEqual([second.status, second.body], [201, first.body]);
});

test("a waiting post can be moved, edited and canceled; a canceled one no more", async () => {
  const user = await stage.connectedUser("Kath1918_J");
  const headers = { "svc-api-key": user.key };
  const { body } = await post(user, { ...textPost("first"), scheduledTime: inMs(3_600_000) });
  const url = `/v1/posts/${body.postSubmissionId}`;
  const moved = await stage.app.inject({
    method: "PATCH",
    url,
    headers,
    payload: { text: "second", scheduledTime: "2099-01-01T00:00:00Z" },
  });
  assert.equal(moved.statusCode, 200, moved.body);
  const found = await read(user, body.postSubmissionId);
  assert.deepEqual(
    [found.content.text, found.scheduledTime],
    ["second", "2099-01-01T00:00:00.000Z"],
  );
  const { rows } = await stage.owner.query(
    "select run_at from graphile_worker.jobs where key = $1",
    [`post:${body.postSubmissionId}`],
  );
  assert.deepEqual(rows, [{ run_at: new Date("2099-01-01T00:00:00Z") }]);
  const tooLong = await stage.app.inject({
    method: "PATCH",
    url,
    headers,
    payload: { text: "x".repeat(3_001) },
  });
  assert.equal(tooLong.statusCode, 400);
  assert.equal((await stage.app.inject({ method: "DELETE", url, headers })).statusCode, 200);
  assert.equal((await read(user, body.postSubmissionId)).status, "canceled");
  assert.equal((await stage.app.inject({ method: "DELETE", url, headers })).statusCode, 400);
  const left = await stage.owner.query("select from graphile_worker.jobs where key = $1", [
    `post:${body.postSubmissionId}`,
  ]);
  assert.equal(left.rowCount, 0);
});

test("another user's post is not found, whatever is asked of it", async () => {
  const { body } = await post(ada, textPost("mine"));
  const headers = { "svc-api-key": both.key };
  const url = `/v1/posts/${body.postSubmissionId}`;
  for (const request of [
    { method: "GET", url },
    { method: "DELETE", url },
    { method: "PATCH", url, payload: { text: "yours" } },
    { method: "POST", url: `${url}/retry` },
  ] as const) {
    assert.equal((await stage.app.inject({ ...request, headers })).statusCode, 404);
  }
});

test("POST /v1/posts is limited to 30 a minute per user", async () => {
  const user = await stage.connectedUser("Alan1912_T");
  const statuses = await Promise.all(
    Array.from({ length: 32 }, async (_, i) => (await post(user, textPost(`limit ${i}`))).status),
  );
  assert.deepEqual(
    [201, 429].map((status) => statuses.filter((each) => each === status).length),
    [30, 2],
  );
});

test("the list is newest first, in pages, by status, platform and time", async () => {
  const user = await stage.connectedUser("Alan1912_T");
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) {
    const scheduledTime = count % 2 ? `2099-01-0${count}T00:00:00Z` : null;
    ids.unshift(
      (await post(user, { ...textPost(`post ${count}`), scheduledTime })).body.postSubmissionId,
    );
  }
  const list = async (query: string) =>
    (
      await stage.app.inject({ url: `/v1/posts?${query}`, headers: { "svc-api-key": user.key } })
    ).json<{
      posts: { postSubmissionId: string }[];
      next: string | null;
    }>();
  const first = await list("limit=3");
  const second = await list(`limit=3&cursor=${first.next}`);
  assert.deepEqual(
    [...first.posts, ...second.posts].map((each) => each.postSubmissionId),
    ids,
  );
  assert.equal(second.next, null);
  assert.equal((await list("from=2099-01-01T00:00:00Z&to=2099-01-03T00:00:00Z")).posts.length, 1);
  assert.equal((await list("platform=network")).posts.length, 5);
  assert.equal((await list("platform=tiktok")).posts.length, 0);
  assert.equal((await list("status=canceled")).posts.length, 0);
});
