import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { startSandbox } from "../app.ts";
import type { Sandbox } from "../app.ts";
import { addFault, endFaults, temporaryDir, until } from "../testing.ts";
import {
  acceptedUrns,
  codeOf,
  connect,
  connected,
  creating,
  get,
  oauth,
  publish,
  publishedUrn,
  redeem,
  set,
  ugcPost,
} from "./linkedin.testing.ts";
import { linkedin } from "./linkedin.ts";

const fault = (sandbox: Sandbox, rule: object): Promise<void> =>
  addFault(sandbox, { service: "linkedin", operation: creating, times: 1, ...rule });

/** Sends the post again, as one does after an answer that was lost, and returns what LinkedIn knows of it. */
async function resend(sandbox: Sandbox, token: string): Promise<{ status: number; urn: string }> {
  const response = await publish(sandbox, token, ugcPost("once"));
  const urn = /urn:li:(share|ugcPost):\d+/.exec(await response.text())?.[0] ?? "";
  return { status: response.status, urn };
}

const lostAnswers: [
  name: string,
  rule: object,
  post: (call: Promise<Response>) => Promise<void>,
][] = [
  [
    "a 504",
    { effect: "fail", status: 504 },
    async (call) => assert.equal((await call).status, 504),
  ],
  ["a reset", { effect: "reset" }, (call) => assert.rejects(call, TypeError)],
  [
    "a page in place of JSON",
    { effect: "malformed", kind: "html", status: 502 },
    async (call) => assert.equal((await call).status, 502),
  ],
];

for (const [name, rule, observe] of lostAnswers) {
  describe(`${name} for a post`, () => {
    test("after accepting: the post exists, the journal says so, and a repetition names it", async (t) => {
      const { sandbox, token } = await connected(t);
      await fault(sandbox, { phase: "after", ...rule });
      await observe(publish(sandbox, token, ugcPost("once")));
      const urns = acceptedUrns(sandbox);
      assert.equal(urns.length, 1);
      assert.deepEqual(await resend(sandbox, token), { status: 422, urn: urns[0] });
      assert.equal(acceptedUrns(sandbox).length, 1);
    });

    test("before accepting: nothing exists, and a repetition is the first", async (t) => {
      const { sandbox, token } = await connected(t);
      await fault(sandbox, { phase: "before", ...rule });
      await observe(publish(sandbox, token, ugcPost("once")));
      assert.deepEqual(acceptedUrns(sandbox), []);
      assert.equal((await resend(sandbox, token)).status, 201);
    });
  });
}

test("a post whose answer never comes is accepted all the same", async (t) => {
  const { sandbox, token } = await connected(t);
  await fault(sandbox, { phase: "after", effect: "hang" });
  const client = new AbortController();
  const call = publish(sandbox, token, ugcPost("once"), { signal: client.signal });
  await until("it is accepted", () => acceptedUrns(sandbox).length === 1);
  client.abort(new Error("client gave up"));
  await assert.rejects(call, { message: "client gave up" });
  const [urn] = acceptedUrns(sandbox);
  assert.deepEqual(await resend(sandbox, token), { status: 422, urn });
  await endFaults(sandbox);
});

test("expire_token makes a code expired for one call", async (t) => {
  const { sandbox } = await connected(t);
  const code = await codeOf(sandbox);
  await fault(sandbox, { operation: "linkedin.token", phase: "before", effect: "expire_token" });
  const refused = await redeem(sandbox, { code });
  const { error } = (await refused.json()) as { error: string };
  assert.deepEqual([refused.status, error], [400, "invalid_redirect_uri"]);
  assert.equal((await redeem(sandbox, { code })).status, 200);
});

describe("a 201 that keeps its id back", () => {
  const cases = [
    { strip: { headers: ["x-restli-id"] }, hasHeader: false, hasBody: true },
    { strip: { body: true }, hasHeader: true, hasBody: false },
    { strip: { headers: ["x-restli-id"], body: true }, hasHeader: false, hasBody: false },
  ];
  for (const { strip, hasHeader, hasBody } of cases) {
    const where = `header ${hasHeader ? "there" : "gone"}, body ${hasBody ? "there" : "gone"}`;
    test(`is still a post: ${where}`, async (t) => {
      const { sandbox, token } = await connected(t);
      await fault(sandbox, { phase: "after", effect: "strip", ...strip });
      const response = await publish(sandbox, token, ugcPost("once"));
      const [urn] = acceptedUrns(sandbox);
      assert.equal(response.status, 201);
      assert.equal(response.headers.get("x-restli-id"), hasHeader ? urn : null);
      assert.equal(await response.text(), hasBody ? JSON.stringify({ id: urn }) : "");
    });
  }
});

/** Another sandbox on what is on disk at this moment: what is left when the first one is killed now. */
async function afterKill(t: TestContext, dataDir: string): Promise<Sandbox> {
  const copy = await temporaryDir(t);
  await cp(dataDir, copy, { recursive: true });
  const sandbox = await startSandbox({ port: 0, dataDir: copy, services: [linkedin] });
  t.after(() => sandbox.close());
  return sandbox;
}

test("a killed and restarted LinkedIn remembers codes, tokens, revocations, posts and quotas", async (t) => {
  const dataDir = await temporaryDir(t);
  const first = await startSandbox({ port: 0, dataDir, services: [linkedin] });
  t.after(() => first.close());
  const partner = { client_id: "sandbox-linkedin-partner" };
  const { access_token } = await connect(first);
  const revoked = await connect(first);
  await oauth(first, "revoke", { token: revoked.access_token });
  const { refresh_token } = await connect(first, partner);
  const usedCode = await codeOf(first);
  await redeem(first, { code: usedCode });
  const code = await codeOf(first);
  const urn = await publishedUrn(await publish(first, access_token, ugcPost("once")));
  await set(first, { memberDailyLimit: 3 });

  const second = await afterKill(t, dataDir);
  assert.equal((await get(second, "/v2/userinfo", access_token)).status, 200);
  assert.equal((await get(second, "/v2/userinfo", revoked.access_token)).status, 401);
  const refreshing = { ...partner, grant_type: "refresh_token", refresh_token };
  assert.equal((await oauth(second, "accessToken", refreshing)).status, 200);
  assert.equal((await redeem(second, { code: usedCode })).status, 401);
  assert.equal((await redeem(second, { code })).status, 200);
  assert.deepEqual(await resend(second, access_token), { status: 422, urn });
  assert.match(
    await publishedUrn(await publish(second, access_token, ugcPost("next"))),
    /^urn:li:ugcPost:/,
  );
  assert.equal((await publish(second, access_token, ugcPost("over"))).status, 429);
  const page = await fetch(`${second.url}/linkedin/feed/update/${urn}/`);
  assert.equal(page.status, 200);
});
