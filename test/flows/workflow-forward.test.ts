import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { text } from "node:stream/consumers";
import { startSandbox } from "../../sandbox/app.ts";
import { listen, serve } from "../../src/outbound/serve.testing.ts";
import { selfSigned } from "../../src/outbound/self-signed.testing.ts";
import { sandboxSettings } from "../../src/quick-start.ts";
import { testApp } from "../helpers/app.ts";
import type { Settings } from "../helpers/app.ts";
import { newCredentials, signUp } from "../helpers/tokens.ts";

interface Answered {
  success?: boolean;
  status?: number;
  error?: { code: string; details?: { field: string }[] & { upstreamStatus?: number } };
}

/** An app with a signed-in user, and what it answers to their forwards. */
async function scene(settings: Settings) {
  const stage = await testApp({ RATE_LIMIT_DEFAULT_MAX: "1000", ...settings });
  const { token, userId } = await signUp(stage.app, stage.config.urls.web);
  const payload = {
    uid: userId,
    businessId: "demo-business",
    networkUrl: "https://network.example/in/ada?a=1&b=2",
    metadataName: "profile",
  };
  async function forward(
    body: object = payload,
    headers: Record<string, string> = { authorization: `Bearer ${token}` },
  ) {
    const answer = await stage.app.inject({
      method: "POST",
      url: "/api/network-webhook",
      headers,
      payload: body,
    });
    return { status: answer.statusCode, body: answer.json<Answered>() };
  }
  return { ...stage, forward, payload, userId };
}

interface Taken {
  method: string | undefined;
  url: string | undefined;
  type: string | undefined;
  body: string;
}

/** Notes every request, and answers as it is told. */
function endpoint() {
  const taken: Taken[] = [];
  let reply = (_request: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(202).end("taken");
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = request;
    taken.push({ method, url, type: headers["content-type"], body: await text(request) });
    reply(request, response);
  }
  const listener: RequestListener = (request, response) => void take(request, response);
  const answerWith = (next: typeof reply): void => {
    taken.length = 0;
    reply = next;
  };
  return { taken, listener, answerWith };
}

const unvouched = endpoint();
const tlsUrl = `https://127.0.0.1:${await listen(createServer(selfSigned, unvouched.listener))}/hook`;

test("a certificate that nobody vouches for is accepted, and the payload arrives as it was sent", async () => {
  const { forward, payload } = await scene({ WORKFLOW_URL: tlsUrl });
  const { status, body } = await forward();
  assert.deepEqual([status, body], [200, { success: true, status: 202 }]);
  assert.deepEqual(unvouched.taken, [
    { method: "POST", url: "/hook", type: "application/json", body: JSON.stringify(payload) },
  ]);
});

test("with WORKFLOW_TLS_VERIFY=true it is 502, and nothing is sent", async () => {
  unvouched.taken.length = 0;
  const { forward } = await scene({ WORKFLOW_URL: tlsUrl, WORKFLOW_TLS_VERIFY: "true" });
  const { status, body } = await forward();
  assert.deepEqual([status, body.error?.code], [502, "upstream_error"]);
  assert.deepEqual(unvouched.taken, []);
});

test("after an unverified call every other call to the same place still verifies", async () => {
  const { forward, deps } = await scene({ WORKFLOW_URL: tlsUrl });
  assert.equal((await forward()).status, 200);
  const limits = { timeoutMs: 5_000, maxBytes: 1_000 };
  await assert.rejects(deps.outbound.send(tlsUrl, limits), { failure: "network" });
  await assert.rejects(deps.outbound.fetchJson(tlsUrl, limits), { failure: "network" });
});

test("only the forward may go without a verified certificate", () => {
  const root = new URL("../../src/", import.meta.url);
  const filesWith = (words: RegExp): string[] =>
    globSync("**/*.ts", { cwd: root })
      .filter((file) => !/\.(test|testing|fixture)\.ts$/.test(file))
      .filter((file) => words.test(readFileSync(new URL(file, root), "utf8")))
      .sort();
  assert.deepEqual(filesWith(/acceptsAnyCertificate/), [
    "business/forward.ts",
    "outbound/dial.ts",
    "outbound/outbound.ts",
    "outbound/send.ts",
  ]);
  assert.deepEqual(filesWith(/rejectUnauthorized|checkServerIdentity/), ["outbound/dial.ts"]);
  assert.deepEqual(filesWith(/NODE_TLS_REJECT_UNAUTHORIZED/), []);
});

const plain = endpoint();
const plainUrl = await serve(plain.listener);
const { app, config, deps, forward, payload, userId } = await scene({ WORKFLOW_URL: plainUrl });

test("who is not signed in gets 401, before the body is looked at", async () => {
  for (const headers of [{}, { authorization: "Bearer x.y.z" }, { cookie: "__session=nobody" }])
    assert.equal((await forward({}, headers as Record<string, string>)).status, 401);
});

test("the session cookie of the browser is enough", async () => {
  const who = newCredentials();
  const uid = await deps.identity.createUser({ ...who, name: "Ada" });
  const entered = await app.inject({
    method: "POST",
    url: "/api/auth/sign-in/email",
    headers: { origin: new URL(config.urls.web).origin },
    payload: who,
  });
  const [line = ""] = [entered.headers["set-cookie"] ?? []].flat();
  const { status } = await forward({ ...payload, uid }, { cookie: line.split(";")[0] ?? "" });
  assert.equal(status, 200);
});

test("another user's uid is 403; an admin may name any", async () => {
  plain.taken.length = 0;
  const foreign = { ...payload, uid: "somebody-else" };
  const { status, body } = await forward(foreign);
  assert.deepEqual([status, body.error?.code, plain.taken.length], [403, "forbidden", 0]);
  config.auth.adminUsers.add(userId);
  try {
    assert.equal((await forward(foreign)).status, 200);
    assert.equal((JSON.parse(plain.taken[0]?.body ?? "") as { uid: string }).uid, "somebody-else");
  } finally {
    config.auth.adminUsers.delete(userId);
  }
});

test("each missing, wrong or unknown field is 400 by its name, and nothing is sent", async () => {
  plain.taken.length = 0;
  for (const field of Object.keys(payload)) {
    for (const value of [undefined, null, 7, "", [], {}, "x".repeat(9_000)]) {
      const { status, body } = await forward({ ...payload, [field]: value });
      assert.deepEqual([status, body.error?.details?.[0]?.field], [400, `body.${field}`]);
    }
  }
  for (const networkUrl of ["ada", "ftp://network.example", "javascript:alert(1)"])
    assert.equal((await forward({ ...payload, networkUrl })).status, 400);
  assert.equal((await forward({ ...payload, extra: 1 })).status, 400);
  assert.deepEqual(plain.taken, []);
});

test("any answer but 2xx is 502 with its status; a redirect is not followed; nothing is tried again", async () => {
  for (const status of [302, 307, 400, 401, 421, 429, 500, 503]) {
    plain.answerWith((_request, response) =>
      response.writeHead(status, { location: `${plainUrl}/elsewhere`, "retry-after": "0" }).end(),
    );
    const answer = await forward();
    assert.deepEqual([answer.status, answer.body.error?.code], [502, "upstream_error"]);
    assert.equal(answer.body.error?.details?.upstreamStatus, status);
    assert.equal(plain.taken.length, 1, `${status}`);
  }
});

test("a connection that is lost is 502, and not tried again", async () => {
  plain.answerWith((request) => request.socket.destroy());
  const { status, body } = await forward();
  assert.deepEqual([status, body.error?.code, plain.taken.length], [502, "upstream_error", 1]);
});

test("of an answer without end only the beginning is read, and its status counts", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  plain.answerWith((_request, response) => {
    response.writeHead(200).on("close", resolve);
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(16_384)));
    };
    response.on("drain", more);
    more();
  });
  assert.deepEqual((await forward()).body, { success: true, status: 200 });
  await closed;
});

test("an endpoint that is silent is given up after 10 seconds: 502", async () => {
  plain.answerWith(() => {});
  const startedAt = performance.now();
  const { status } = await forward();
  const seconds = (performance.now() - startedAt) / 1_000;
  assert.ok(status === 502 && seconds > 9.5 && seconds < 13, `${status} after ${seconds} s`);
});

test("without a workflow endpoint it is 503", async () => {
  const closed = await scene({});
  const { status, body } = await closed.forward();
  assert.deepEqual([status, body.error?.code], [503, "service_unavailable"]);
});

test("with the quick start's settings it arrives in the sandbox", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "herald-workflow-"));
  const sandbox = await startSandbox({ port: 0, dataDir });
  after(async () => {
    await sandbox.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const sandboxed = await scene(sandboxSettings(sandbox.url));
  assert.deepEqual((await sandboxed.forward()).body, { success: true, status: 200 });
  const { entries } = sandbox.journal.find({ operation: "workflow.run", accepted: true });
  assert.deepEqual(
    entries.map(({ request }) => JSON.parse(String(request?.body)) as unknown),
    [sandboxed.payload],
  );
});
