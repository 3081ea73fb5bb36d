import type { Db } from "../db/index.ts";

/** A job whose attempts are used up. It is kept until somebody retries it. */
export interface DeadJob {
  id: string;
  task: string;
  payload: unknown;
  attempts: number;
  error: string | null;
  createdAt: Date;
}

/** The newest first. `before` is the id of the last job of the page before. */
export async function listDeadJobs(
  db: Db,
  { limit = 50, before }: { limit?: number; before?: string } = {},
): Promise<DeadJob[]> {
  const { rows } = await db.query<DeadJob>({
    name: "list_dead_jobs",
    text: `select j.id, t.identifier as task, j.payload, j.attempts, j.last_error as error, j.created_at as "createdAt"
           from graphile_worker._private_jobs j
           join graphile_worker._private_tasks t on t.id = j.task_id
           where j.attempts >= j.max_attempts and j.locked_at is null and ($2::bigint is null or j.id < $2)
           order by j.id desc limit $1`,
    values: [limit, before],
  });
  return rows;
}

export async function countDeadJobs(db: Db): Promise<number> {
  const { rows } = await db.query<{ dead: number }>({
    name: "count_dead_jobs",
    text: `select count(*)::int as dead from graphile_worker._private_jobs
           where attempts >= max_attempts and locked_at is null`,
  });
  return rows[0]?.dead ?? 0;
}

/** Gives a dead job all its attempts again. False if there is no such dead job. */
export async function retryDeadJob(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "retry_dead_job",
    text: `select from graphile_worker.reschedule_jobs(
             array(select id from graphile_worker._private_jobs
                   where id = $1 and attempts >= max_attempts and locked_at is null),
             run_at => now(), attempts => 0)`,
    values: [id],
  });
  return rowCount === 1;
}
