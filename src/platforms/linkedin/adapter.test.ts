import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Call, PlatformRequest, PlatformResponse } from "../adapter.ts";
import { PlatformError } from "../platform-error.ts";
import { linkedin } from "./adapter.ts";

const adapter = linkedin({
  authUrl: "https://www.example.com/oauth/v2/authorization",
  tokenUrl: "https://www.example.com/oauth/v2/accessToken",
  userinfoUrl: "https://api.example.com/v2/userinfo",
  profileUrl: "https://api.example.com/v2/me",
  ugcUrl: "https://api.example.com/v2/ugcPosts",
  webUrl: "https://www.example.com",
  clientId: "id",
  clientSecret: "secret",
  refusesRepeatsForMs: 480_000,
});
const account = { accountId: "a1", authorUrn: "urn:li:person:a1" };
const urn = "urn:li:share:7000000000000000001";

type Said = Partial<Omit<PlatformResponse, "body">> & { body?: unknown };

/** A platform that gives these answers, one after the other, and remembers what it was asked. */
function saying(...answers: Said[]): Call & { asked: PlatformRequest[] } {
  const asked: PlatformRequest[] = [];
  return {
    account,
    asked,
    send(request) {
      const { status = 200, headers = {}, body = "" } = answers[asked.push(request) - 1] ?? {};
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return Promise.resolve({ status, headers, body: text });
    },
  };
}

async function failureOf(act: Promise<unknown>): Promise<PlatformError> {
  const error = await act.then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PlatformError, String(error));
  return error;
}

const publish = (call: Call) => adapter.publish({ text: "Hello" }, call);
const refused = (answer: Said) => failureOf(publish(saying(answer)));

describe("publishing", () => {
  test("sends exactly the contract's body and header, once", async () => {
    const call = saying({ status: 201, headers: { "x-restli-id": urn } });
    await publish(call);
    assert.deepEqual(call.asked, [
      {
        method: "POST",
        url: "https://api.example.com/v2/ugcPosts",
        headers: { "x-restli-protocol-version": "2.0.0" },
        json: {
          author: "urn:li:person:a1",
          lifecycleState: "PUBLISHED",
          specificContent: {
            "com.linkedin.ugc.ShareContent": {
              shareCommentary: { text: "Hello" },
              shareMediaCategory: "NONE",
            },
          },
          visibility: { "com.linkedin.ugc.MemberNetworkVisibility": "PUBLIC" },
        },
      },
    ]);
  });

  const published = { remoteId: urn, url: `https://www.example.com/feed/update/${urn}/` };
  const nameless = { remoteId: null, url: null };
  const successes: [name: string, answer: Said, result: object][] = [
    ["the id in the header", { status: 201, headers: { "x-restli-id": urn } }, published],
    ["the id in the body", { status: 201, body: { id: urn } }, published],
    ["the id of a 200", { status: 200, body: { id: urn } }, published],
    ["no id in a 201", { status: 201 }, nameless],
    ["an empty id in a 201", { status: 201, headers: { "x-restli-id": "" } }, nameless],
    ["a 201 that is not JSON", { status: 201, body: "<html>" }, nameless],
    ["an id that is no text", { status: 201, body: { id: 7 } }, nameless],
    [
      "an id of another kind",
      { status: 201, body: { id: "x/../y" } },
      { remoteId: "x/../y", url: null },
    ],
  ];
  for (const [name, answer, result] of successes) {
    test(`is told as done by ${name}`, async () => {
      assert.deepEqual(await publish(saying(answer)), result);
    });
  }

  const kinds: [status: number, kind: PlatformError["kind"]][] = [
    ...[401, 403].map((status): [number, "reconnect"] => [status, "reconnect"]),
    ...[400, 404, 413, 415, 422, 426].map((status): [number, "rejected"] => [status, "rejected"]),
    ...[409, 429].map((status): [number, "retry"] => [status, "retry"]),
    ...[200, 202, 204, 301, 302, 303, 307, 308, 408, 500, 502, 503, 504, 999].map(
      (status): [number, "unknown"] => [status, "unknown"],
    ),
  ];
  for (const [status, kind] of kinds) {
    test(`answered with ${status} is ${kind}`, async () => {
      const error = await refused({ status, body: { message: "because", status } });
      assert.deepEqual([error.kind, error.upstreamStatus], [kind, status]);
      assert.equal(error.upstreamBody, JSON.stringify({ message: "because", status }));
      assert.match(error.message, /because/);
    });
  }

  for (const original of [urn, "urn:li:ugcPost:12", "urn:li:activity:3"]) {
    test(`a duplicate of ${original} names it`, async () => {
      const message = `com.example.BadRequest: Content is a duplicate of ${original}`;
      const error = await refused({ status: 422, body: { message } });
      assert.deepEqual([error.kind, error.remoteId], ["duplicate", original]);
    });
  }

  const impostors: [status: number, body: unknown][] = [
    [422, { message: "Content is a duplicate of urn:li:person:5" }],
    [422, { message: `The post mentions ${urn}` }],
    [422, { message: "refused", text: `a duplicate of ${urn}` }],
    [422, `{"message":"Content is a duplicate of ${urn.slice(0, -3)}`],
    [400, { message: `Content is a duplicate of ${urn}` }],
  ];
  for (const [status, body] of impostors) {
    test(`${status} ${JSON.stringify(body)} is no proof of an earlier post`, async () => {
      const error = await refused({ status, body });
      assert.deepEqual([error.kind, error.remoteId], ["rejected", undefined]);
    });
  }

  test("a refusal without words waits until midnight UTC, by LinkedIn's clock", async () => {
    const wait = async (date: string) =>
      (await refused({ status: 429, headers: { date } })).retryAfterSeconds;
    assert.equal(await wait("Sun, 15 Nov 2026 23:59:50 GMT"), 10);
    assert.equal(await wait("Sun, 15 Nov 2026 00:00:00 GMT"), 86_400);
    const unclear = (await wait("no date")) ?? 0;
    assert.ok(unclear > 0 && unclear <= 86_400);
  });

  test("a refusal that names a time waits until then", async () => {
    const headers = { "retry-after": "120" };
    assert.equal((await refused({ status: 429, headers })).retryAfterSeconds, 120);
  });

  test("an endless refusal is kept short", async () => {
    const error = await refused({ status: 400, body: { message: "x".repeat(60_000) } });
    assert.ok(error.message.length < 400 && (error.upstreamBody?.length ?? 0) <= 2_000);
  });

  test("an account without its author's name reads it first", async () => {
    const created = { status: 201, body: { id: urn } };
    for (const missing of [null, { accountId: "a1", authorUrn: null }]) {
      const call = { ...saying({ body: { sub: "b2" } }, created), account: missing };
      await publish(call);
      assert.match(JSON.stringify(call.asked[1]?.json), /"author":"urn:li:person:b2"/);
    }
    const call = { ...saying({ status: 503 }, { status: 403 }), account: null };
    assert.equal((await failureOf(publish(call))).kind, "retry");
    assert.deepEqual(
      call.asked.map(({ method }) => method),
      ["GET", "GET"],
    );
  });
});

describe("the profile", () => {
  const person = { sub: "a1", name: "Ada Lovelace", picture: "https://pictures.example.com/a1" };
  const me = {
    id: "a1",
    localizedFirstName: "Ada",
    localizedLastName: "Lovelace",
    vanityName: "ada",
  };
  const known = {
    accountId: "a1",
    displayName: "Ada Lovelace",
    username: null,
    avatarUrl: person.picture,
    authorUrn: "urn:li:person:a1",
  };

  test("comes from userinfo", async () => {
    const call = saying({ body: person });
    assert.deepEqual(await adapter.profile(call), known);
    assert.deepEqual(call.asked, [{ method: "GET", url: "https://api.example.com/v2/userinfo" }]);
  });

  test("needs nothing but an id", async () => {
    const bare = { ...known, displayName: "a1", avatarUrl: null };
    assert.deepEqual(await adapter.profile(saying({ body: { sub: "a1", name: 5 } })), bare);
    assert.deepEqual(await adapter.profile(saying({ status: 500 }, { body: { id: "a1" } })), bare);
  });

  const failing: Said[] = [
    { status: 403 },
    { status: 404 },
    { status: 500 },
    { status: 503 },
    { body: { name: "Ada" } },
    { body: { sub: "" } },
    { body: "<html>" },
    { status: 500, body: person },
  ];
  for (const first of failing) {
    test(`comes from the profile address when userinfo says ${JSON.stringify(first)}`, async () => {
      const call = saying(first, { body: me });
      assert.deepEqual(await adapter.profile(call), { ...known, username: "ada", avatarUrl: null });
      assert.equal(call.asked[1]?.url, "https://api.example.com/v2/me");
    });
  }

  const failures: [first: number, second: number, kind: PlatformError["kind"]][] = [
    [403, 403, "reconnect"],
    [500, 403, "retry"],
    [503, 500, "retry"],
    [302, 403, "retry"],
    [500, 401, "reconnect"],
    [404, 403, "rejected"],
  ];
  for (const [first, second, kind] of failures) {
    test(`is ${kind} when the two addresses say ${first} and ${second}`, async () => {
      const call = saying({ status: first }, { status: second });
      assert.equal((await failureOf(adapter.profile(call))).kind, kind);
    });
  }

  test("is not asked for elsewhere with a refused token, or in spite of a limit", async () => {
    const expired = saying({ status: 401 });
    assert.equal((await failureOf(adapter.profile(expired))).kind, "reconnect");
    const limited = saying({ status: 429, headers: { "retry-after": "7" } });
    const { kind, retryAfterSeconds } = await failureOf(adapter.profile(limited));
    assert.deepEqual([kind, retryAfterSeconds], ["retry", 7]);
    assert.deepEqual([expired.asked.length, limited.asked.length], [1, 1]);
  });
});
