import assert from "node:assert/strict";
import { test } from "node:test";
import { businessScene, sampleOf } from "../helpers/business.ts";
import type { Item } from "../helpers/business.ts";

const { call, newBusiness, owner } = await businessScene();
const count = <Value>(length: number, make: (index: number) => Value): Value[] =>
  Array.from({ length }, (_, index) => make(index));

async function businessWithPosts(length: number): Promise<string> {
  const businessId = newBusiness();
  await Promise.all(
    count(length, async (index) => {
      const createdAt = new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();
      const post = { businessId, documentId: `post-${index}`, content: "x", createdAt };
      assert.equal((await call("createCompanyNetworkPost", post)).status, 201);
    }),
  );
  return businessId;
}

test("50 claims at once on 50 unused posts: 50 different posts, and then none is left", async () => {
  const businessId = await businessWithPosts(50);
  const answers = await Promise.all(count(50, () => call("claimNetworkPost", { businessId })));
  assert.ok(answers.every(({ status, body }) => status === 200 && body.data.used));
  assert.equal(new Set(answers.map(({ body }) => body.data.documentId)).size, 50);
  assert.equal((await call("claimNetworkPost", { businessId })).body.data, null);
});

test("more claims than posts: each post is given once, the others get null", async () => {
  const businessId = await businessWithPosts(10);
  const answers = await Promise.all(
    count(30, () => call<Item | null>("claimNetworkPost", { businessId })),
  );
  const taken = answers.flatMap(({ body }) => body.data?.documentId ?? []);
  assert.deepEqual([taken.length, new Set(taken).size], [10, 10]);
});

test("getUnusedNetworkPost by 50 at once: all get the oldest, and it stays unused", async () => {
  const businessId = await businessWithPosts(3);
  const answers = await Promise.all(count(50, () => call("getUnusedNetworkPost", { businessId })));
  assert.ok(answers.every(({ body }) => body.data.documentId === "post-0" && !body.data.used));
  const read = await call("getNetworkPost", { businessId, documentId: "post-0" });
  assert.equal(read.body.data.used, false);
});

test("100 appends at once to a participant that is new: 100 entries, none lost, as they arrived", async () => {
  const parentDocId = newBusiness();
  const answers = await Promise.all(
    count(100, async (index) => {
      const id = `append-${index}`;
      const updates = { themes: [{ type: id, description: "x" }], values: [id] };
      const body = { parentDocId, subDocId: "ada", updates };
      return await call("updateUserPersona", body, { "x-request-id": id });
    }),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  const { participants = [] } = (await call("getParticipants", { businessId: parentDocId })).body;
  const values = participants[0]?.["values"] as string[];
  const themes = participants[0]?.["themes"] as { type: string }[];
  assert.deepEqual([values.length, new Set(values).size], [100, 100]);
  assert.deepEqual(
    themes.map(({ type }) => type),
    values,
  );
  // The note of a call is written while its row is still held: the log has the order of the changes.
  const { rows } = await owner.query<{ request_id: string }>(
    "select request_id from audit_log where subject = $1 and action = 'business.updateUserPersona' order by id",
    [parentDocId],
  );
  assert.deepEqual(
    rows.map(({ request_id }) => request_id),
    values,
  );
});

test("appends one after the other stand in that order", async () => {
  const parentDocId = newBusiness();
  for (const each of ["a", "b", "c", "d"])
    await call("updateUserPersona", { parentDocId, subDocId: "p", updates: { values: [each] } });
  const { participants = [] } = (await call("getParticipants", { businessId: parentDocId })).body;
  assert.deepEqual(participants[0]?.["values"], ["a", "b", "c", "d"]);
});

test("50 upserts of one documentId at once leave one post, and what was marked stays marked", async () => {
  const [businessId, documentId] = [newBusiness(), "same"];
  const answers = await Promise.all(
    count(50, (index) =>
      call("createCompanyNetworkPost", {
        businessId,
        documentId,
        content: `${index}`,
        ...(index === 7 && { used: true }),
        ...(index === 9 && { exclude: true }),
      }),
    ),
  );
  assert.ok(answers.every(({ status }) => status === 201));
  const { body } = await call<Item[]>("listNetworkPosts", { businessId });
  assert.equal(body.data.length, 1);
  assert.partialDeepStrictEqual(body.data[0], { used: true, exclude: true });
});

test("nothing of one business can be read or changed by naming its ids below another", async () => {
  const [mine, theirs] = [newBusiness(), newBusiness()];
  const documentId = "urn:li:activity:1";
  for (const name of [
    "createPost",
    "createCompanyNetworkPost",
    "updateUserPersona",
    "upsertCompany",
  ])
    assert.ok((await call(name, sampleOf(theirs)[name] ?? {})).status < 300);
  // Older than theirs, so that a cursor of theirs would lead here.
  const old = { createdAt: "2020-01-01T00:00:00Z" };
  await call("createPost", { ...sampleOf(mine)["createPost"], ...old });
  const used = { businessId: mine, documentId: "old", content: "x", used: true, ...old };
  await call("createCompanyNetworkPost", used);
  const stateOf = async (businessId: string) => {
    const answers = await Promise.all(
      ["getCompanyById", "getParticipants", "listPosts", "listNetworkPosts"].map((name) =>
        call<unknown>(name, { businessId }),
      ),
    );
    return JSON.stringify(answers.map(({ body }) => body));
  };
  const before = await stateOf(theirs);
  const post = (await call<{ id: string }[]>("listPosts", { businessId: theirs })).body.data[0];

  assert.equal((await call("getNetworkPost", { businessId: mine, documentId })).status, 404);
  const marked = await call("updateNetworkPost", { businessId: mine, documentId, used: true });
  assert.equal(marked.status, 404);
  assert.equal((await call("getUnusedNetworkPost", { businessId: mine })).body.data, null);
  assert.equal((await call("claimNetworkPost", { businessId: mine })).body.data, null);
  assert.deepEqual((await call("getParticipants", { businessId: mine })).body.participants, []);
  for (const [name, cursor] of [
    ["listPosts", post?.id ?? ""],
    ["listNetworkPosts", documentId],
  ] as const) {
    const { body } = await call<Item[]>(name, { businessId: mine, cursor });
    assert.deepEqual(body.data, [], name);
  }

  // Writes with the same ids make things of their own.
  await call("createCompanyNetworkPost", {
    businessId: mine,
    documentId,
    content: "mine",
    used: true,
  });
  const updates = { role: "Spy", values: ["mine"] };
  await call("updateUserPersona", { parentDocId: mine, subDocId: "ada", updates });
  await call("upsertParticipant", { businessId: mine, participantId: "ada", name: "Spy" });
  assert.equal(await stateOf(theirs), before);
});
