import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { postJson } from "../testing.ts";
import {
  acceptedUrns,
  advance,
  connect,
  connected,
  dayMs,
  get,
  grace,
  minuteMs,
  publish,
  publishedUrn,
  set,
  ugcPost,
} from "./linkedin.testing.ts";

describe("a text post", () => {
  test("is answered 201 with its urn in the header and in the body, as the journal has it", async (t) => {
    const { sandbox, token } = await connected(t);
    const response = await publish(sandbox, token, ugcPost("Hello\nworld"));
    const { id } = (await response.json()) as { id: string };
    assert.deepEqual([response.status, response.headers.get("x-restli-id")], [201, id]);
    assert.match(id, /^urn:li:share:\d{19}$/);
    assert.deepEqual(acceptedUrns(sandbox), [id]);
  });

  test("gets a share and a ugcPost urn in turn, never the same twice", async (t) => {
    const { sandbox, token } = await connected(t);
    const urns: string[] = [];
    for (const text of ["a", "b", "c", "d"]) {
      urns.push(await publishedUrn(await publish(sandbox, token, ugcPost(text))));
    }
    assert.deepEqual(
      urns.map((urn) => urn.split(":")[2]),
      ["share", "ugcPost", "share", "ugcPost"],
    );
    assert.equal(new Set(urns.map((urn) => urn.split(":")[3])).size, 4);
  });

  test("may have 3000 UTF-16 units and not one more", async (t) => {
    const { sandbox, token } = await connected(t);
    await publishedUrn(await publish(sandbox, token, ugcPost("🚀".repeat(1500))));
    const refused = await publish(sandbox, token, ugcPost(`${"🚀".repeat(1500)}!`));
    const { code } = (await refused.json()) as { code: string };
    assert.deepEqual([refused.status, code], [400, "FIELD_LENGTH_TOO_LONG"]);
  });

  test("cannot be read back: a member's posts are closed to apps", async (t) => {
    const { sandbox, token } = await connected(t);
    const urn = await publishedUrn(await publish(sandbox, token, ugcPost("a")));
    for (const path of [`/v2/ugcPosts/${encodeURIComponent(urn)}`, "/v2/ugcPosts?q=authors"]) {
      const response = await get(sandbox, path, token);
      const { code } = (await response.json()) as { code: string };
      assert.deepEqual([response.status, code], [403, "ACCESS_DENIED"]);
    }
  });
});

describe("the same content again", () => {
  test("is refused for ten minutes with the urn of the first post, then taken", async (t) => {
    const { sandbox, token } = await connected(t);
    const post = (): Promise<Response> => publish(sandbox, token, ugcPost("same"));
    const first = await publishedUrn(await post());
    for (const ms of [1, 5 * minuteMs, 4 * minuteMs]) {
      await advance(sandbox, ms);
      const refused = await post();
      assert.equal(refused.status, 422);
      assert.deepEqual(await refused.json(), {
        status: 422,
        code: "DUPLICATE_POST",
        message: `Content is a duplicate of ${first}`,
      });
    }
    await advance(sandbox, minuteMs);
    const second = await publishedUrn(await post());
    const third = await post();
    assert.match(((await third.json()) as { message: string }).message, new RegExp(second));
    assert.deepEqual(acceptedUrns(sandbox), [first, second]);
  });

  test("is a duplicate however the JSON is written, and for whomever it is visible", async (t) => {
    const { sandbox, token } = await connected(t);
    await publishedUrn(await publish(sandbox, token, ugcPost("same")));
    const reordered = Object.fromEntries(Object.entries(ugcPost("same")).toReversed());
    const visibility = { "com.linkedin.ugc.MemberNetworkVisibility": "CONNECTIONS" };
    for (const body of [reordered, { ...ugcPost("same"), visibility }]) {
      assert.equal((await publish(sandbox, token, body)).status, 422);
    }
  });

  test("is no duplicate with one character more, or by somebody else", async (t) => {
    const { sandbox, token } = await connected(t);
    const other = await connect(sandbox, { member: grace });
    await publishedUrn(await publish(sandbox, token, ugcPost("same")));
    await publishedUrn(await publish(sandbox, token, ugcPost("same ")));
    await publishedUrn(await publish(sandbox, other.access_token, ugcPost("same", grace)));
  });

  test("twenty times at once is taken exactly once, and all the others name it", async (t) => {
    const { sandbox, token } = await connected(t);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => publish(sandbox, token, ugcPost("same"))),
    );
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    const [urn = ""] = acceptedUrns(sandbox);
    assert.equal(acceptedUrns(sandbox).length, 1);
    assert.ok(texts.every((text) => text.includes(urn)));
  });
});

describe("the day's quota", () => {
  const throttled = (level: string): unknown => ({
    status: 429,
    code: "TOO_MANY_REQUESTS",
    serviceErrorCode: 101,
    message: `Resource level throttle ${level} DAY limit for calls to this resource is reached.`,
  });

  test("of a member ends that member's calls until UTC midnight, refused ones counted", async (t) => {
    const { sandbox, token } = await connected(t);
    const other = await connect(sandbox, { member: grace });
    await set(sandbox, { memberDailyLimit: 2 });
    await publishedUrn(await publish(sandbox, token, ugcPost("1")));
    assert.equal((await publish(sandbox, token, {})).status, 400);
    const refused = await publish(sandbox, token, ugcPost("2"));
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), null);
    assert.deepEqual(await refused.json(), throttled("MEMBER"));
    await publishedUrn(await publish(sandbox, other.access_token, ugcPost("3", grace)));
    await advance(sandbox, dayMs - (Date.now() % dayMs));
    await publishedUrn(await publish(sandbox, token, ugcPost("2")));
  });

  test("of an app ends the calls of all its members", async (t) => {
    const { sandbox, token } = await connected(t);
    const other = await connect(sandbox, { member: grace });
    await set(sandbox, { appDailyLimit: 1 });
    await publishedUrn(await publish(sandbox, token, ugcPost("1")));
    const refused = await publish(sandbox, other.access_token, ugcPost("2", grace));
    assert.deepEqual(await refused.json(), throttled("APPLICATION"));
  });

  test("is set by a control call that refuses what it does not know, and DELETE restores", async (t) => {
    const { sandbox } = await connected(t);
    const url = `${sandbox.url}/linkedin/_control`;
    const refused = await postJson(url, { memberDailyLimit: -1, quota: 1 });
    assert.equal(refused.status, 400);
    const before = await (await fetch(url)).json();
    await set(sandbox, { memberDailyLimit: 150 });
    assert.deepEqual(await (await fetch(url)).json(), {
      ...(before as object),
      memberDailyLimit: 150,
    });
    await fetch(url, { method: "DELETE" });
    assert.deepEqual(await (await fetch(url)).json(), before);
  });
});
