import assert from "node:assert/strict";
import { test } from "node:test";
import { prepareDemoBusiness } from "../../src/demo-business.ts";
import { businessScene, contractNames, sampleOf } from "../helpers/business.ts";
import type { Item } from "../helpers/business.ts";

const { app, deps, call, newBusiness } = await businessScene();
const functions = Object.keys(sampleOf(""));
const isRecent = (time: string): boolean => Math.abs(Date.now() - Date.parse(time)) < 60_000;

test("every function of the contract is served, and described with its schemas", async () => {
  const { paths } = (await app.inject("/openapi.json")).json<{
    paths: Record<string, { post?: { requestBody?: unknown; responses: object } }>;
  }>();
  for (const name of [...contractNames, ...functions]) {
    const { requestBody, responses = {} } = paths[`/functions/${name}`]?.post ?? {};
    assert.ok(requestBody, name);
    for (const status of ["400", "403", "404", "429", "500"]) assert.ok(status in responses, name);
  }
});

test("createPost: 201 with id and data; the post of the network is kept as it is given", async () => {
  const body = sampleOf(newBusiness())["createPost"] ?? {};
  for (const networkPost of [{ z: 1, a: { deep: [null, 1.5] }, m: "x" }, "plain text"]) {
    const { status, body: answer } = await call("createPost", { ...body, networkPost });
    assert.deepEqual([status, answer.success], [201, true]);
    const createdAt = "2026-05-04T01:02:01.000Z";
    assert.deepEqual(answer.data, { id: answer.id, ...body, networkPost, createdAt });
    assert.equal(JSON.stringify(answer.data.networkPost), JSON.stringify(networkPost));
  }
  const { createdAt: _time, metadata: _metadata, ...least } = body;
  const { status, body: answer } = await call("createPost", least);
  assert.equal(status, 201);
  assert.ok(isRecent(answer.data.createdAt));
});

test("createCompanyNetworkPost: an upsert by business and documentId that keeps what is left out", async () => {
  const [businessId, documentId] = [newBusiness(), "urn:li:activity:9"];
  const first = await call("createCompanyNetworkPost", { businessId, documentId, content: "one" });
  assert.deepEqual(
    [first.status, first.body.success, first.body.documentId, typeof first.body.message],
    [201, true, documentId, "string"],
  );
  assert.partialDeepStrictEqual(first.body.data, { content: "one", used: false, exclude: false });
  assert.ok(isRecent(first.body.data.createdAt));
  const marks = { used: true, exclude: true, url: "https://network.example/9" };
  await call("createCompanyNetworkPost", { businessId, documentId, content: "two", ...marks });
  const third = await call("createCompanyNetworkPost", {
    businessId,
    documentId,
    content: "three",
  });
  assert.equal(third.status, 201);
  const { createdAt } = first.body.data;
  assert.partialDeepStrictEqual(third.body.data, { content: "three", ...marks, createdAt });
  const cleared = { businessId, documentId, content: "four", used: false, exclude: false };
  const fourth = await call("createCompanyNetworkPost", cleared);
  assert.partialDeepStrictEqual(fourth.body.data, cleared);
  const { body } = await call<Item[]>("listNetworkPosts", { businessId });
  assert.equal(body.data.length, 1);
});

test("getNetworkPost and updateNetworkPost: 200 with the post, 404 without", async () => {
  const [businessId, documentId] = [newBusiness(), "d"];
  assert.equal((await call("getNetworkPost", { businessId, documentId })).status, 404);
  assert.equal(
    (await call("updateNetworkPost", { businessId, documentId, used: true })).status,
    404,
  );
  const made = await call("createCompanyNetworkPost", { businessId, documentId, content: "x" });
  const read = await call("getNetworkPost", { businessId, documentId });
  assert.deepEqual([read.status, read.body], [200, { success: true, data: made.body.data }]);
  for (const used of [true, false]) {
    const { status, body } = await call("updateNetworkPost", { businessId, documentId, used });
    assert.deepEqual([status, body.success, body.data.used], [200, true, used]);
  }
});

test("getUnusedNetworkPost: the oldest neither used nor excluded, or null; claimNetworkPost takes it", async () => {
  const businessId = newBusiness();
  for (const name of ["getUnusedNetworkPost", "claimNetworkPost"])
    assert.equal((await call(name, { businessId })).status, 404);
  const save = async (documentId: string, more: object) =>
    await call("createCompanyNetworkPost", { businessId, documentId, content: "x", ...more });
  await save("used", { createdAt: "2020-01-01T00:00:00Z", used: true });
  await save("excluded", { createdAt: "2020-01-02T00:00:00Z", exclude: true });
  await save("young", { createdAt: "2020-01-04T00:00:00Z" });
  await save("old", { createdAt: "2020-01-03T00:00:00Z" });
  const ask = async (name: string) =>
    (await call<Item | null>(name, { businessId })).body.data?.documentId;
  assert.deepEqual(
    [await ask("getUnusedNetworkPost"), await ask("getUnusedNetworkPost")],
    ["old", "old"],
  );
  assert.deepEqual(
    [await ask("claimNetworkPost"), await ask("claimNetworkPost")],
    ["old", "young"],
  );
  const left = await call("claimNetworkPost", { businessId });
  assert.deepEqual([left.status, left.body], [200, { success: true, data: null }]);
  assert.deepEqual((await call("getUnusedNetworkPost", { businessId })).body.data, null);
});

test("getCompanyById and upsertCompany: 404 before, then what is known; what is left out stays", async () => {
  const businessId = newBusiness();
  assert.equal((await call("getCompanyById", { businessId })).status, 404);
  await call("upsertCompany", sampleOf(businessId)["upsertCompany"] ?? {});
  const { status, body } = await call("upsertCompany", { businessId, name: "Engines" });
  assert.equal(status, 200);
  assert.partialDeepStrictEqual(body.data, { name: "Engines", details: { size: 3 } });
  assert.deepEqual((await call("getCompanyById", { businessId })).body, body);
});

test("any write to an unknown business makes it", async () => {
  for (const name of [
    "createPost",
    "createCompanyNetworkPost",
    "updateUserPersona",
    "upsertParticipant",
  ]) {
    const businessId = newBusiness();
    assert.ok((await call(name, sampleOf(businessId)[name] ?? {})).status < 300);
    assert.equal((await call("getCompanyById", { businessId })).status, 200, name);
  }
});

test("updateUserPersona: lists grow, everything else is replaced, a missing participant is made", async () => {
  const businessId = newBusiness();
  assert.equal((await call("getParticipants", { businessId })).status, 404);
  const update = async (updates: object) =>
    await call("updateUserPersona", { parentDocId: businessId, subDocId: "ada", updates });
  const theme = (type: string) => ({ type, description: `about ${type}` });
  const first = await update({ role: "Founder", themes: [theme("a")], tone: { warm: 1, dry: 2 } });
  assert.deepEqual([first.status, first.body], [200, { ok: true }]);
  await update({
    role: "Chair",
    themes: [theme("b"), theme("c")],
    values: ["v"],
    tone: { warm: 3 },
  });
  await update({
    personality: ["calm"],
    writingTechniques: [{ name: "lists" }],
    extra: [1],
    name: "Ada",
  });
  await update({ extra: [2], values: [] });
  const { status, body } = await call("getParticipants", { businessId });
  assert.deepEqual([status, body.success, body.participants?.length], [200, true, 1]);
  assert.partialDeepStrictEqual(body.participants?.[0], {
    id: "ada",
    businessId,
    name: "Ada",
    role: "Chair",
    themes: [theme("a"), theme("b"), theme("c")],
    values: ["v"],
    personality: ["calm"],
    writingTechniques: [{ name: "lists" }],
    tone: { warm: 3 },
    extra: [2],
  });
  const saved = await call("upsertParticipant", {
    businessId,
    participantId: "ada",
    persona: { themes: [theme("z")] },
  });
  assert.partialDeepStrictEqual(saved.body.data, { themes: [theme("z")], role: "Chair" });
});

test("pages of posts are newest first and lead on to the last one", async () => {
  const businessId = newBusiness();
  for (let day = 1; day <= 5; day++) {
    const [createdAt, content] = [`2026-01-0${Math.min(day, 4)}T00:00:00Z`, "x"];
    const post = { ...sampleOf(businessId)["createPost"], title: `${day}`, createdAt };
    await call("createPost", post);
    await call("createCompanyNetworkPost", {
      businessId,
      documentId: `${day}`,
      content,
      createdAt,
    });
  }
  for (const [name, field] of [
    ["listPosts", "title"],
    ["listNetworkPosts", "documentId"],
  ] as const) {
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = { businessId, limit: 2, ...(cursor && { cursor }) };
      const { body } = await call<Item[]>(name, page);
      seen.push(...body.data.map((item) => item[field]));
      cursor = body.next;
    } while (cursor);
    assert.deepEqual(
      [seen.slice(0, 2).sort(), seen.slice(2)],
      [
        ["4", "5"],
        ["3", "2", "1"],
      ],
      name,
    );
  }
});

test("the quick start's business is made once, and what was changed since stays", async () => {
  const businessId = "demo-business";
  await Promise.all([prepareDemoBusiness(deps), prepareDemoBusiness(deps)]);
  const claimed = await call("claimNetworkPost", { businessId });
  assert.equal(claimed.body.data.used, true);
  await prepareDemoBusiness(deps);
  const { participants } = (await call("getParticipants", { businessId })).body;
  const networkPosts = (await call<Item[]>("listNetworkPosts", { businessId })).body.data;
  const posts = (await call<Item[]>("listPosts", { businessId })).body.data;
  assert.deepEqual([participants?.length, networkPosts.length, posts.length], [2, 3, 1]);
  assert.equal(networkPosts.filter(({ used }) => used).length, 1);
});
