import assert from "node:assert/strict";
import { appendFile, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { Journal } from "./journal.ts";
import { temporaryDir, testSandbox, postJson, until } from "./testing.ts";

const facts = {
  service: "a",
  operation: "a.do",
  accepted: true,
  outcome: { status: 200 },
  notes: [],
};

/** Holds every fdatasync back (or fails it) and counts them. */
async function gateSync(
  t: TestContext,
  fail?: Error,
): Promise<{ started: () => number; open: () => void }> {
  const file = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(file) as typeof file;
  await file.close();
  const gate = Promise.withResolvers<void>();
  const mocked = t.mock.method(prototype, "datasync", async function (this: typeof file) {
    if (fail) throw fail;
    await gate.promise;
    await this.sync();
  });
  return { started: () => mocked.mock.callCount(), open: gate.resolve };
}

async function openJournal(t: TestContext, path: string): Promise<Journal> {
  const journal = await Journal.open(path);
  t.after(() => journal.close().catch(() => undefined));
  return journal;
}

describe("journal", () => {
  test("no answer leaves before its entry is synced to disk", async (t) => {
    const sandbox = await testSandbox(t);
    const sync = await gateSync(t);
    let isAnswered = false;
    const answer = postJson(`${sandbox.url}/workflow`, {}).then((response) => {
      isAnswered = true;
      return response;
    });
    await until("the sync has started", () => sync.started() === 1);
    // A whole request to the same server passes meanwhile: the answer had every chance to leave.
    const seen = await fetch(`${sandbox.url}/_sandbox/journal`);
    assert.deepEqual(await seen.json(), { entries: [], next: null });
    assert.equal(isAnswered, false);
    sync.open();
    assert.equal((await answer).status, 200);
  });

  test("concurrent entries share one sync", async (t) => {
    const journal = await openJournal(t, join(await temporaryDir(t), "journal.jsonl"));
    const sync = await gateSync(t);
    const appended = Array.from({ length: 50 }, () => journal.append(facts));
    await until("the first sync has started", () => sync.started() === 1);
    sync.open();
    const entries = await Promise.all(appended);
    assert.equal(sync.started(), 2);
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
  });

  test("after a failed sync nothing more is taken", async (t) => {
    const journal = await openJournal(t, join(await temporaryDir(t), "journal.jsonl"));
    await gateSync(t, new Error("EIO"));
    await assert.rejects(journal.append(facts), { message: "the journal could not be written" });
    t.mock.restoreAll();
    await assert.rejects(journal.append(facts), { message: "the journal could not be written" });
    assert.deepEqual(journal.find().entries, []);
  });

  test("a reopened journal keeps its entries and goes on counting", async (t) => {
    const path = join(await temporaryDir(t), "deep", "journal.jsonl");
    const first = await Journal.open(path);
    const kept = [await first.append(facts), await first.append({ ...facts, accepted: false })];
    await first.close();
    const second = await openJournal(t, path);
    assert.deepEqual(second.find().entries, kept);
    assert.equal((await second.append(facts)).seq, 3);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test("a torn last line is cut off and the next entry takes its number", async (t) => {
    const path = join(await temporaryDir(t), "journal.jsonl");
    const first = await Journal.open(path);
    const kept = await first.append(facts);
    await first.close();
    await appendFile(path, '{"seq":2,"at":"2026-0');
    const second = await openJournal(t, path);
    assert.deepEqual(second.find().entries, [kept]);
    assert.equal((await second.append(facts)).seq, 2);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { seq: number }).seq),
      [1, 2],
    );
  });

  test("a damaged line inside the journal stops the start and is named", async (t) => {
    const path = join(await temporaryDir(t), "journal.jsonl");
    await appendFile(path, 'not json\n{"seq":2}\n');
    await assert.rejects(Journal.open(path), /journal\.jsonl:1 is not a journal entry/);
  });

  test("entries are found by every filter, page by page", async (t) => {
    const journal = await openJournal(t, join(await temporaryDir(t), "journal.jsonl"));
    await journal.append(facts);
    await journal.append({ ...facts, accepted: false });
    await journal.append({ ...facts, operation: "a.other" });
    await journal.append({ ...facts, service: "b" });
    const seqs = (filter: Parameters<Journal["find"]>[0]): number[] =>
      journal.find(filter).entries.map(({ seq }) => seq);
    assert.deepEqual(seqs({ service: "a" }), [1, 2, 3]);
    assert.deepEqual(seqs({ operation: "a.other" }), [3]);
    assert.deepEqual(seqs({ accepted: false }), [2]);
    assert.deepEqual(seqs({ after: 2 }), [3, 4]);
    assert.equal(journal.find({ limit: 3 }).next, 3);
    assert.equal(journal.find({ limit: 4 }).next, null);
  });

  test("what a service stored comes back after a restart, in the line of the call that changed it", async (t) => {
    const path = join(await temporaryDir(t), "journal.jsonl");
    const first = await Journal.open(path);
    const posts = first.store("a").collection<{ text: string }>("posts");
    posts.set("1", { text: "one" });
    posts.set("2", { text: "two" });
    await first.append(facts);
    posts.set("2", { text: "changed" });
    posts.delete("1");
    await first.append(facts);
    posts.set("3", { text: "never committed" });
    await first.close();
    const second = await openJournal(t, path);
    assert.deepEqual([...second.store("a").collection("posts").values()], [{ text: "changed" }]);
    assert.deepEqual([...second.store("b").collection("posts").values()], []);
    assert.equal("changes" in (second.find().entries[0] ?? {}), false);
  });
});
