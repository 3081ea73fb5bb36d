import type { Clock } from "../clock.ts";
import { inTransaction } from "../db/index.ts";
import type { Pool, Transaction } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { leadProblem } from "./submit.ts";

interface Waiting {
  status: string;
  content: Record<string, unknown>;
}

async function lockWaiting(tx: Transaction, userId: string, id: string): Promise<Waiting> {
  const { rows } = await tx.query<Waiting>({
    name: "lock_waiting",
    text: "select status, content from submissions where id = $1 and user_id = $2 for update",
    values: [id, userId],
  });
  const [found] = rows;
  if (!found) throw new AppError("not_found", "There is no such post");
  if (found.status !== "queued") {
    throw new AppError(
      "validation_error",
      `The post can't be changed any more: it is ${found.status}`,
      {
        details: [{ field: "params.id", message: `is ${found.status}`, code: "not_queued" }],
      },
    );
  }
  return found;
}

/** Only while it waits. Once canceled it stays so, and its job is gone with it. */
export async function cancelPost(db: Pool, userId: string, id: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockWaiting(tx, userId, id);
    await tx.query(
      "update submissions set status = 'canceled', updated_at = clock_timestamp() where id = $1",
      [id],
    );
    await tx.query("select graphile_worker.remove_job($1)", [`post:${id}`]);
  });
}

export interface Change {
  text?: string | undefined;
  /** Null: now. */
  scheduledTime?: string | null | undefined;
}

/** A new time or text while the post waits; the job moves with it. */
export async function changePost(
  {
    db,
    clock,
    check,
  }: { db: Pool; clock: Clock; check(content: Record<string, unknown>, id: string): Promise<void> },
  userId: string,
  id: string,
  change: Change,
): Promise<void> {
  const details = leadProblem(change.scheduledTime, clock);
  if (details.length > 0)
    throw new AppError("validation_error", "The request is not valid", { details });
  await inTransaction(db, async (tx) => {
    const waiting = await lockWaiting(tx, userId, id);
    const content =
      change.text === undefined ? waiting.content : { ...waiting.content, text: change.text };
    await check(content, id);
    await tx.query(
      "update submissions set content = $2, updated_at = clock_timestamp() where id = $1",
      [id, JSON.stringify(content)],
    );
    if (change.scheduledTime === undefined) return;
    await tx.query(
      `update submissions set scheduled_time = $2::timestamptz, due_at = coalesce($2::timestamptz, clock_timestamp()) where id = $1`,
      [id, change.scheduledTime],
    );
    await tx.query(
      `select graphile_worker.add_job('posts.orchestrate', json_build_object('submissionId', $1::text), run_at => due_at,
         job_key => 'post:' || $1) from submissions where id = $1::uuid`,
      [id],
    );
  });
}

interface FailedRun {
  id: string;
  target_id: string;
  code: string;
}

/** Tries failed targets again. One whose outcome is unknown is not: it may be published. */
export async function retryPost(db: Pool, userId: string, id: string): Promise<string[]> {
  return await inTransaction(db, async (tx) => {
    const { rows } = await tx.query<FailedRun>(
      `select r.id, r.target_id, r.error->>'code' as code from runs r join submissions s on s.id = r.submission_id
       where s.id = $1 and s.user_id = $2 and r.status = 'failed' order by r.target_id for update of r`,
      [id, userId],
    );
    const inDoubt = rows.filter((run) => run.code === "outcome_unknown");
    if (inDoubt.length > 0) {
      throw new AppError(
        "validation_error",
        "It is not known whether every failed target was published",
        {
          details: inDoubt.map((run) => ({
            field: "params.id",
            message: run.target_id,
            code: "outcome_unknown",
          })),
        },
      );
    }
    if (rows.length === 0)
      throw new AppError("not_found", "There is no such post with failed targets");
    const ids = rows.map((run) => run.id);
    await tx.query(
      "update runs set status = 'queued', error = null, finished_at = null where id = any($1)",
      [ids],
    );
    await tx.query(
      `select graphile_worker.add_jobs(array_agg(('posts.publish', json_build_object('runId', id), null, null, null,
         'run:' || id, 0, null)::graphile_worker.job_spec)) from unnest($1::uuid[]) id`,
      [ids],
    );
    return rows.map((run) => run.target_id);
  });
}
