import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterEach, test } from "node:test";
import { adjust } from "../../src/billing/index.ts";
import { transcribe } from "../../src/transcription/transcribe.ts";
import { createTestUser } from "../helpers/app.ts";
import type { TestUser } from "../helpers/app.ts";
import { mediaStage } from "../helpers/media.ts";

const stage = await mediaStage();
const { url, db, deps, config, files, sandboxUrl } = stage;
const file = async (name: string): Promise<Buffer> =>
  await readFile(new URL(`../../sandbox/files/${name}`, import.meta.url));
const said = "We keep what we promise. We say what we keep.";
const segments = [
  { start: 0, end: 1.5, text: "We keep what we promise." },
  { start: 1.5, end: 3, text: "We say what we keep." },
];

async function sandbox(path: string, body?: unknown, method = "POST"): Promise<void> {
  const answer = await fetch(`${sandboxUrl}${path}`, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  assert.ok(answer.ok, await answer.text());
}
afterEach(async () => await sandbox("/_sandbox/faults", undefined, "DELETE"));

const sound = hash("sha256", await file("tone.wav"));
await sandbox("/speech/_control", { transcripts: { [sound]: { text: said, segments } } });

async function newUser(credits: number): Promise<TestUser> {
  const user = await createTestUser(db);
  if (credits > 0)
    await adjust(db, { userId: user.userId, amount: credits, key: user.userId, reference: {} });
  return user;
}

async function stored(user: TestUser, name = "tone.wav"): Promise<string> {
  const { status, body } = await stage.upload(`${files}/files/${name}`, {}, user);
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

interface Answer {
  jobId: string;
  transcript: string;
  creditsDebited: number;
  likelyLyrics: boolean;
  error?: { code: string; details?: { field: string }[] };
}

async function ask(
  user: TestUser,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Answer; headers: Headers }> {
  const answer = await fetch(`${url}/v1/ai/transcribe`, {
    method: "POST",
    headers: { "content-type": "application/json", "svc-api-key": user.key, ...headers },
    body: JSON.stringify(body),
  });
  return {
    status: answer.status,
    body: (await answer.json()) as Answer,
    headers: answer.headers,
  };
}

const get = async (user: TestUser, path: string): Promise<Response> =>
  await fetch(`${url}/v1/ai/transcriptions${path}`, { headers: { "svc-api-key": user.key } });

async function ledgerOf({ userId }: TestUser): Promise<[string, number][]> {
  const { rows } = await db.query<{ kind: string; amount: number }>(
    "select kind, amount::int from credit_entries where user_id = $1 order by id",
    [userId],
  );
  return rows.map(({ kind, amount }) => [kind, amount]);
}

test("200 with the transcript, paid by the minute; it can be read again, also as subtitles", async () => {
  const user = await newUser(5);
  const mediaId = await stored(user);
  const { status, body } = await ask(user, { mediaId });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body, {
    jobId: body.jobId,
    transcript: said,
    creditsDebited: 1,
    likelyLyrics: false,
  });
  assert.deepEqual(await ledgerOf(user), [
    ["adjustment", 5],
    ["debit", -1],
  ]);
  const job = (await (await get(user, `/${body.jobId}`)).json()) as Record<string, unknown>;
  assert.partialDeepStrictEqual(job, {
    status: "succeeded",
    mediaId,
    segments,
    language: "en",
    model: "whisper-1",
    creditsDebited: 1,
  });
  const srt = await get(user, `/${body.jobId}?format=srt`);
  assert.match(srt.headers.get("content-type") ?? "", /^application\/x-subrip/);
  assert.match(
    await srt.text(),
    /^1\r?\n00:00:00,000 --> 00:00:01,500\r?\nWe keep what we promise\./,
  );
  assert.match(await (await get(user, `/${body.jobId}?format=vtt`)).text(), /^WEBVTT/);
  const list = (await (await get(user, "")).json()) as { transcriptions: { jobId: string }[] };
  assert.deepEqual(
    list.transcriptions.map(({ jobId }) => jobId),
    [body.jobId],
  );
  const stranger = await newUser(0);
  assert.equal((await get(stranger, `/${body.jobId}`)).status, 404);
});

test("a repeat with its key gets the same transcript and pays nothing", async () => {
  const user = await newUser(5);
  const mediaId = await stored(user);
  const key = { "idempotency-key": "once" };
  const answers = await Promise.all([1, 2, 3].map(async () => await ask(user, { mediaId }, key)));
  assert.deepEqual(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
  assert.deepEqual((await ledgerOf(user)).length, 2);
  assert.equal((await ask(user, { mediaId, language: "en" }, key)).status, 409);
});

test("every error of the contract: 404, 400, 402, and nothing is charged", async () => {
  const user = await newUser(1);
  const code = async (body: object): Promise<[number, string | undefined]> => {
    const answer = await ask(user, body);
    return [answer.status, answer.body.error?.code];
  };
  assert.deepEqual(await code({ mediaId: "unknown0unknown0" }), [404, "MEDIA_NOT_FOUND"]);
  const foreign = await stored(await newUser(0));
  assert.deepEqual(await code({ mediaId: foreign }), [404, "MEDIA_NOT_FOUND"]);
  const picture = await stored(user, "picture.png");
  assert.deepEqual(await code({ mediaId: picture }), [400, "UNSUPPORTED_MEDIA_TYPE"]);
  const mediaId = await stored(user);
  for (const wrong of [
    { language: "english" },
    { durationSeconds: -1 },
    { durationSeconds: 0 },
    { durationSeconds: 1e308 },
    { durationSeconds: 1.5 },
    { model: "" },
    { speed: 2 },
  ])
    assert.deepEqual(
      await code({ mediaId, ...wrong }),
      [400, "validation_error"],
      JSON.stringify(wrong),
    );
  const poor = await newUser(1);
  const long = { mediaId: await stored(poor), durationSeconds: 61 };
  const refused = await ask(poor, long);
  assert.deepEqual([refused.status, refused.body.error?.code], [402, "insufficient_credits"]);
  for (const each of [user, poor]) assert.deepEqual(await ledgerOf(each), [["adjustment", 1]]);
});

test("400 MEDIA_INVALID where the record's object is gone, and the credits are back", async () => {
  const user = await newUser(2);
  const mediaId = await stored(user);
  await db.query("update media set download_token = 'other' where id = $1", [mediaId]);
  const { status, body } = await ask(user, { mediaId });
  assert.deepEqual([status, body.error?.code], [400, "MEDIA_INVALID"]);
  assert.deepEqual(await ledgerOf(user), [
    ["adjustment", 2],
    ["debit", -1],
    ["refund", 1],
  ]);
});

for (const [name, fault, expected] of [
  ["fails", { effect: "fail", status: 500, phase: "before" }, 502],
  ["breaks off", { effect: "reset", phase: "after" }, 502],
  ["talks nonsense", { effect: "fail", status: 200, body: "<html>", phase: "after" }, 502],
  ["refuses our key", { effect: "expire_token", phase: "before" }, 502],
  ["asks for patience", { effect: "rate_limit", retryAfter: "120", phase: "before" }, 503],
] as const)
  test(`a provider that ${name} costs nothing, and another attempt may succeed`, async () => {
    const user = await newUser(3);
    const mediaId = await stored(user);
    const key = { "idempotency-key": "again" };
    await sandbox("/_sandbox/faults", { service: "speech", ...fault });
    const { status, headers } = await ask(user, { mediaId }, key);
    assert.equal(status, expected);
    if (expected === 503) assert.equal(headers.get("retry-after"), "120");
    assert.deepEqual(await ledgerOf(user), [
      ["adjustment", 3],
      ["debit", -1],
      ["refund", 1],
    ]);
    await sandbox("/_sandbox/faults", undefined, "DELETE");
    const again = await ask(user, { mediaId }, key);
    assert.deepEqual([again.status, again.body.transcript], [200, said]);
    assert.deepEqual((await ledgerOf(user)).at(-1), ["debit", -1]);
  });

test("who has one credit gets one transcript, however many are asked for at once", async () => {
  const rounds = process.env["HERALD_FULL"] ? 500 : 5;
  for (let round = 0; round < rounds; round++) {
    const user = await newUser(1);
    const mediaId = await stored(user);
    const { userId } = user;
    const limits = config.media;
    const outcomes = await Promise.allSettled(
      Array.from(
        { length: 100 },
        async (_, index) =>
          await transcribe({ ...deps, limits }, { jobId: `${userId} ${index}`, userId, mediaId }),
      ),
    );
    const codes = outcomes.map((each) =>
      each.status === "fulfilled" ? each.value.status : (each.reason as { code: string }).code,
    );
    assert.equal(codes.filter((code) => code === "succeeded").length, 1, codes.join(" "));
    assert.equal(codes.filter((code) => code === "insufficient_credits").length, 99);
  }
});

test("killed with the provider at work: the same job goes on with the credits it held", async () => {
  const user = await newUser(2);
  const mediaId = await stored(user);
  const { userId } = user;
  const input = { jobId: `${userId} killed`, userId, mediaId };
  const limits = config.media;
  // What a process that died in the middle of it leaves behind.
  const dead = {
    ...deps,
    limits,
    speech: { ...deps.speech, transcribe: async () => await new Promise<never>(() => undefined) },
  };
  void transcribe(dead, input);
  const deadline = performance.now() + 5_000;
  while ((await ledgerOf(user)).length < 2) assert.ok(performance.now() < deadline);
  const job = await transcribe({ ...deps, limits }, input);
  assert.deepEqual([job.status, job.transcript, job.attempt], ["succeeded", said, 1]);
  const once = await transcribe({ ...deps, limits }, input);
  assert.equal(once.transcript, said);
  assert.deepEqual(await ledgerOf(user), [
    ["adjustment", 2],
    ["debit", -1],
  ]);
});
