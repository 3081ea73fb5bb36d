import assert from "node:assert/strict";
import { test } from "node:test";
import { postsStage, textPost } from "../../test/helpers/posts.ts";
import { PlatformError } from "../platforms/index.ts";
import type { Published } from "../platforms/index.ts";
import { reconcileTask } from "./reconcile.ts";

const stage = await postsStage();
const { deps, owner } = stage;
const user = await stage.connectedUser("Ada1815_Lv");

/** LinkedIn as it would be if members' posts could be read back. */
function tellingRegistry(answers: Record<string, Published | null>) {
  const linkedin = deps.registry.get("linkedin");
  if (!linkedin) throw new Error("there is no LinkedIn");
  const find = async ({ text }: { text: string }): Promise<Published | null> => {
    const answer = answers[text];
    if (answer === undefined) throw new PlatformError("unknown", "can't tell");
    return answer;
  };
  const adapter = { ...linkedin, find };
  return { ...deps.registry, get: () => adapter, all: () => [adapter] };
}

test("unknown outcomes are settled where the platform tells, stay where it does not, and nothing is published", async () => {
  for (const text of ["there", "not there", "no idea"]) {
    const { body } = await stage.post(user, textPost(text));
    await owner.query("select orchestrate($1)", [body.postSubmissionId]);
  }
  await owner.query(
    `update runs set status = 'failed', finished_at = now(),
       error = '{"code":"outcome_unknown","message":"?","retryable":false,"attempts":1}'`,
  );
  const task = reconcileTask({
    db: deps.db,
    registry: tellingRegistry({ there: { remoteId: "urn:1", url: "u" }, "not there": null }),
    openAccount: async () => ({
      call: { account: null, send: () => Promise.reject(new Error("nothing is to be sent")) },
      account: { tokenVersion: "1" },
      refused: () => Promise.resolve(),
    }),
    saveAuthorUrn: () => Promise.resolve(),
  });
  const context = {
    jobId: "1",
    attempt: 1,
    isLastAttempt: false,
    log: deps.log,
    signal: new AbortController().signal,
  };
  await task.run({}, context);
  const { rows } = await owner.query<{ text: string; outcome: string }>(
    `select s.content->>'text' as text, coalesce(r.error->>'code', r.remote_id) as outcome
     from runs r join submissions s on s.id = r.submission_id order by 1`,
  );
  assert.deepEqual(rows, [
    { text: "no idea", outcome: "outcome_unknown" },
    { text: "not there", outcome: "not_published" },
    { text: "there", outcome: "urn:1" },
  ]);
  assert.deepEqual(await stage.accepted(), []);
});
