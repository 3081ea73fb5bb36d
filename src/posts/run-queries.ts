import { isUniqueViolation } from "../db/index.ts";
import type { Db } from "../db/index.ts";
import type { PlatformName } from "../platforms/index.ts";
import type { RunError } from "./schema.ts";

export interface ClaimedRun {
  id: string;
  userId: string;
  platform: PlatformName;
  accountId: string;
  fence: number;
  content: { text?: string };
  /** How many attempts there were, and how long ago the oldest was sent of which nobody knows what became. */
  attempts: number;
  /** Attempts that failed for certain, without those the platform answered with "wait". */
  setbacks: number;
  doubtMs: number | null;
  pausedMs: number;
}

interface ClaimRow {
  id: string;
  user_id: string;
  platform: PlatformName;
  account_id: string;
  fence: string;
  content: { text?: string };
  attempts: number;
  setbacks: number;
  doubt_ms: number | null;
  paused_ms: number;
}

/** Takes a run up. Whoever had it before can't write to it from now on. */
export async function claimRun(db: Db, runId: string): Promise<ClaimedRun | undefined> {
  const { rows } = await db.query<ClaimRow>({
    name: "claim_run",
    text: `update runs r set status = 'processing', fence = r.fence + 1, started_at = coalesce(r.started_at, clock_timestamp())
           from submissions s
           where r.id = $1 and r.status in ('queued', 'processing') and s.id = r.submission_id
           returning r.id, r.user_id, r.platform, r.account_id, r.fence, s.content,
             (select count(*)::int from attempts a where a.run_id = r.id) as attempts,
             (select count(*)::int from attempts a where a.run_id = r.id and a.outcome = 'not_sent'
                and a.upstream_status is distinct from 429) as setbacks,
             (select extract(epoch from clock_timestamp() - min(a.sent_at))::float8 * 1000 from attempts a
              where a.run_id = r.id and (a.outcome is null or a.outcome = 'unknown')) as doubt_ms,
             coalesce((select extract(epoch from p.until - clock_timestamp())::float8 * 1000 from account_pauses p
              where p.user_id = r.user_id and p.platform = r.platform and p.account_id = r.account_id), 0) as paused_ms`,
    values: [runId],
  });
  const [row] = rows;
  return (
    row && {
      id: row.id,
      userId: row.user_id,
      platform: row.platform,
      accountId: row.account_id,
      fence: Number(row.fence),
      content: row.content,
      attempts: row.attempts,
      setbacks: row.setbacks,
      doubtMs: row.doubt_ms,
      pausedMs: row.paused_ms,
    }
  );
}

/** Before the irreversible call. False: the run was taken up by another worker, so this one must not send. */
export async function recordAttempt(
  db: Db,
  run: ClaimedRun,
  number: number,
  bodyHash: string,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "record_attempt",
    text: `insert into attempts (run_id, number, body_hash)
           select id, $3, $4 from runs where id = $1 and fence = $2 and status = 'processing' for update`,
    values: [run.id, run.fence, number, bodyHash],
  });
  return rowCount === 1;
}

export async function isStillOurs(db: Db, run: ClaimedRun): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "is_still_ours",
    text: "select from runs where id = $1 and fence = $2 and status = 'processing'",
    values: [run.id, run.fence],
  });
  return rowCount === 1;
}

export interface AttemptOutcome {
  number: number;
  outcome: "published" | "duplicate" | "refused" | "not_sent" | "unknown";
  upstreamStatus?: number | undefined;
  remoteId?: string | null | undefined;
}

/** What is learnt of an attempt is kept whoever has the run by now: it is a fact about the platform. */
export async function endAttempt(db: Db, run: ClaimedRun, attempt: AttemptOutcome): Promise<void> {
  await db.query({
    name: "end_attempt",
    text: `update attempts set outcome = $3, upstream_status = $4, remote_id = $5, finished_at = clock_timestamp()
           where run_id = $1 and number = $2`,
    values: [
      run.id,
      attempt.number,
      attempt.outcome,
      attempt.upstreamStatus ?? null,
      attempt.remoteId ?? null,
    ],
  });
}

/**
 * The post is out: the attempt and the run say so in one statement, as a crash between two would publish it again. It
 * is a fact, so it counts whoever has the run by now, also when it was given up as unknown. Of the attempts in doubt
 * the last one made the post. "taken": another run has published this very post.
 */
export async function succeedRun(
  db: Db,
  run: ClaimedRun,
  { remoteId, url }: { remoteId: string | null; url: string | null },
): Promise<"succeeded" | "settled before" | "taken"> {
  try {
    const { rowCount } = await db.query({
      name: "succeed_run",
      text: `with in_doubt as (
               select number, max(number) over () as last from attempts
               where run_id = $1 and (outcome is null or outcome = 'unknown')
             ), settled as (
               update attempts a set outcome = case when d.number = d.last then 'published' else 'not_sent' end,
                 remote_id = case when d.number = d.last then $2 end, finished_at = coalesce(a.finished_at, clock_timestamp())
               from in_doubt d where a.run_id = $1 and a.number = d.number)
             update runs set status = 'succeeded', error = null, remote_id = $2, url = $3, finished_at = clock_timestamp()
             where id = $1 and (status = 'processing' or status = 'failed' and error->>'code' = 'outcome_unknown')`,
      values: [run.id, remoteId, url],
    });
    return rowCount === 1 ? "succeeded" : "settled before";
  } catch (error) {
    if (isUniqueViolation(error, "runs_by_remote")) return "taken";
    throw error;
  }
}

export async function failRun(
  db: Db,
  run: ClaimedRun,
  error: Omit<RunError, "attempts">,
): Promise<void> {
  await db.query({
    name: "fail_run",
    text: `update runs set status = 'failed', finished_at = clock_timestamp(),
             error = $3::jsonb || jsonb_build_object('attempts', (select count(*) from attempts where run_id = $1))
           where id = $1 and fence = $2 and status = 'processing'`,
    values: [run.id, run.fence, JSON.stringify(error)],
  });
}

export async function pauseAccount(db: Db, run: ClaimedRun, seconds: number): Promise<void> {
  await db.query({
    name: "pause_account",
    text: `insert into account_pauses (user_id, platform, account_id, until)
           values ($1, $2, $3, clock_timestamp() + $4 * interval '1 second')
           on conflict (user_id, platform, account_id) do update set until = greatest(account_pauses.until, excluded.until)`,
    values: [run.userId, run.platform, run.accountId, seconds],
  });
}

export interface RunNow {
  submissionId: string;
  runId: string;
  caller: { userId: string; keyId?: string };
  target: { targetId: string; platform: PlatformName; accountId: string };
  text: string;
}

const safetyMs = 60_000;

/** A submission that is dispatched as it is made, its run, and the job that looks after it if nobody else does. */
export async function insertRunNow(
  tx: Db,
  { submissionId, runId, caller, target, text }: RunNow,
): Promise<void> {
  await tx.query(
    `insert into submissions (id, user_id, key_id, status, content, targets, due_at)
     values ($1, $2, $3, 'dispatched', $4, $5, clock_timestamp())`,
    [
      submissionId,
      caller.userId,
      caller.keyId ?? null,
      JSON.stringify({ text }),
      JSON.stringify([target]),
    ],
  );
  await tx.query(
    `insert into runs (id, submission_id, user_id, target_id, platform, account_id) values ($1, $2, $3, $4, $5, $6)`,
    [runId, submissionId, caller.userId, target.targetId, target.platform, target.accountId],
  );
  await tx.query(
    `select graphile_worker.add_job('posts.publish', json_build_object('runId', $1::text), job_key => 'run:' || $1,
       run_at => now() + $2 * interval '1 ms')`,
    [runId, safetyMs],
  );
}

export async function dropRunJob(db: Db, runId: string): Promise<void> {
  await db.query("select graphile_worker.remove_job($1)", [`run:${runId}`]);
}

export async function findRun(
  db: Db,
  runId: string,
): Promise<{ remoteId: string | null; url: string | null } | undefined> {
  const { rows } = await db.query<{ remoteId: string | null; url: string | null }>(
    `select remote_id as "remoteId", url from runs where id = $1`,
    [runId],
  );
  return rows[0];
}
