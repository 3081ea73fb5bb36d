import type { Db, Pool } from "../db/index.ts";
import type { IdempotencyFacts } from "./submit.ts";
import type { SubmissionView } from "./schema.ts";
import type { Target } from "./targets.ts";

export interface NewSubmission extends IdempotencyFacts {
  id: string;
  userId: string;
  keyId: string | null;
  answer: string;
  content: Record<string, unknown>;
  targets: Target[];
  scheduledTime: string | null;
  enableRepurposing: boolean;
  trialReel: boolean;
}

/** What became of a submission: taken now, or the record of the request that had this key first. */
export interface Acceptance {
  isNew: boolean;
  bodyHash: string;
  answer: string;
}

interface AcceptanceRow {
  item: number;
  is_new: boolean;
  body_hash: string;
  answer: string;
}

const flagsOf = (each: NewSubmission): number =>
  (each.enableRepurposing ? 1 : 0) | (each.trialReel ? 2 : 0);

/** All of them are for one endpoint. */
export async function acceptMany(db: Db, submissions: NewSubmission[]): Promise<Acceptance[]> {
  const { rows } = await db.query<AcceptanceRow>({
    name: "submit_many",
    text: "select * from submit_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) order by item",
    values: [
      submissions.map((each) => each.id),
      submissions.map((each) => each.userId),
      submissions.map((each) => each.keyId),
      submissions[0]?.endpoint,
      submissions.map((each) => each.keyHash),
      submissions.map((each) => each.bodyHash),
      submissions.map((each) => each.answer),
      submissions.map((each) => JSON.stringify(each.content)),
      submissions.map((each) => JSON.stringify(each.targets)),
      submissions.map((each) => each.scheduledTime),
      submissions.map(flagsOf),
    ],
  });
  return rows.map((row) => ({ isNew: row.is_new, bodyHash: row.body_hash, answer: row.answer }));
}

export async function recallAcceptance(
  db: Db,
  userId: string,
  { endpoint, keyHash }: IdempotencyFacts,
): Promise<Acceptance | undefined> {
  const { rows } = await db.query<AcceptanceRow>({
    name: "recall_acceptance",
    text: `select body_hash, answer from idempotency_records
           where user_id = $1 and endpoint = $2 and key_hash = $3 and answer is not null`,
    values: [userId, endpoint, keyHash],
  });
  const [row] = rows;
  return row && { isNew: false, bodyHash: row.body_hash, answer: row.answer };
}

interface SubmissionRow {
  id: string;
  status: SubmissionView["status"];
  content: Record<string, unknown>;
  targets: Target[];
  scheduled_time: Date | null;
  enable_repurposing: boolean;
  trial_reel: boolean;
  created_at: Date;
  updated_at: Date;
  runs: SubmissionView["runs"];
}

// Timestamps inside the JSON are given the form that every other timestamp of the API has.
const iso = (column: string): string =>
  `to_char(r.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const runsOfSubmission = `coalesce((select json_agg(json_build_object('id', r.id, 'targetId', r.target_id, 'platform', r.platform,
    'accountId', r.account_id, 'status', r.status, 'remoteId', r.remote_id, 'url', r.url, 'error', r.error,
    'startedAt', ${iso("started_at")}, 'finishedAt', ${iso("finished_at")}) order by r.target_id)
  from runs r where r.submission_id = s.id), '[]') as runs`;

function view(row: SubmissionRow): SubmissionView {
  return {
    postSubmissionId: row.id,
    status: row.status,
    content: row.content,
    targets: row.targets,
    scheduledTime: row.scheduled_time?.toISOString() ?? null,
    enableRepurposing: row.enable_repurposing,
    trial_reel: row.trial_reel,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    runs: row.runs,
  };
}

export async function findSubmission(
  db: Db,
  userId: string,
  id: string,
): Promise<SubmissionView | undefined> {
  const { rows } = await db.query<SubmissionRow>({
    name: "find_submission",
    text: `select s.*, ${runsOfSubmission} from submissions s where s.id = $1 and s.user_id = $2`,
    values: [id, userId],
  });
  return rows[0] && view(rows[0]);
}

export interface ListFilter {
  limit: number;
  cursor?: string | undefined;
  status?: string | undefined;
  platform?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** Newest first. One more than asked for tells whether there is a next page. */
export async function listSubmissions(db: Pool, userId: string, filter: ListFilter) {
  const { rows } = await db.query<SubmissionRow>({
    name: "list_submissions",
    text: `select s.*, ${runsOfSubmission} from submissions s
           where s.user_id = $1 and ($2::uuid is null or s.id < $2)
             and ($3::text is null or s.status = $3)
             and ($4::text is null or s.targets @> jsonb_build_array(jsonb_build_object('platform', $4::text)))
             and ($5::timestamptz is null or s.due_at >= $5) and ($6::timestamptz is null or s.due_at < $6)
           order by s.id desc limit $7`,
    values: [
      userId,
      filter.cursor ?? null,
      filter.status ?? null,
      filter.platform ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.limit + 1,
    ],
  });
  const page = rows.slice(0, filter.limit).map(view);
  return {
    posts: page,
    next: rows.length > filter.limit ? (page.at(-1)?.postSubmissionId ?? null) : null,
  };
}
