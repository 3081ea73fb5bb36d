import type { Query } from "./patient-pool.ts";

// The first half of the two-part advisory lock; the second is the worker's id.
const lockClass = 484_011;

/** What a worker's jobs are locked by. */
export function lockName(workerId: number): string {
  return `herald-${workerId}`;
}

export async function takeWorkerId(query: Query): Promise<number> {
  const { rows } = await query<{ id: number }>("select nextval('worker_ids')::int as id");
  const [row] = rows;
  if (!row) throw new Error("no id for the worker");
  return row.id;
}

/** False while another session holds it: a session of our own that the server does not know to be lost yet. */
export async function tryLock(query: Query, id: number): Promise<boolean> {
  const { rows } = await query<{ isLocked: boolean }>(
    'select pg_try_advisory_lock($1, $2) as "isLocked"',
    [lockClass, id],
  );
  return rows[0]?.isLocked === true;
}

export async function insertWorker(
  query: Query,
  worker: { id: number; host: string; pid: number },
): Promise<void> {
  await query("insert into workers (id, host, pid) values ($1, $2, $3)", [
    worker.id,
    worker.host,
    worker.pid,
  ]);
}

/**
 * False if the worker was declared dead. Not waiting for the disk is safe: what a crash of the database can lose is
 * the count of one attempt.
 */
export async function writeRunning(query: Query, id: number, jobIds: string[]): Promise<boolean> {
  const { rowCount } = await query({
    name: "write_running_jobs",
    text: `with hurry as (select set_config('synchronous_commit', 'off', true))
           update workers set running = $2 from hurry where id = $1`,
    values: [id, jobIds],
  });
  return rowCount === 1;
}

export interface Pulse {
  isRegistered: boolean;
  /** Workers that have a row or jobs, and whose lock is free. */
  unlocked: number[];
  /** The jobs that this worker has locked. */
  held: string[];
  /** There is a job this worker could run, and it has been waiting for 2 seconds. */
  hasOverdue: boolean;
}

export async function readPulse(
  query: Query,
  { id, tasks, hasProgressed }: { id: number; tasks: string[]; hasProgressed: boolean },
): Promise<Pulse> {
  const { rows } = await query<Pulse>({
    name: "worker_pulse",
    text: `with progress as (update workers set last_progress_at = now() where id = $1 and $2)
           select exists (select from workers where id = $1) as "isRegistered",
             array(select c.id from (
                     select id from workers
                     union select substring(locked_by from 8)::int from graphile_worker._private_jobs
                     where locked_by ~ '^herald-[0-9]{1,9}$') c
                   where c.id <> $1 and pg_try_advisory_xact_lock($3, c.id)) as unlocked,
             array(select id::text from graphile_worker._private_jobs where locked_by = $4) as held,
             exists (select from graphile_worker._private_jobs j
                     join graphile_worker._private_tasks t on t.id = j.task_id and t.identifier = any($5)
                     left join graphile_worker._private_job_queues q on q.id = j.job_queue_id
                     where j.is_available and j.run_at < now() - interval '2 seconds'
                       and q.is_available is not false) as "hasOverdue"`,
    values: [id, hasProgressed, lockClass, lockName(id), tasks],
  });
  const [pulse] = rows;
  if (!pulse) throw new Error("no pulse");
  return pulse;
}

/**
 * Removes workers whose lock is free (or held by this very session) and frees their jobs, in one transaction.
 * A job that had not begun gets its attempt back. One that had begun keeps it, so a job that kills its process is dead
 * in the end; from the second time on it also waits, so it does not take the same neighbours with it again.
 */
export async function retireWorkers(query: Query, ids: number[]): Promise<number[]> {
  await query("begin");
  const { rows } = await query<{ id: number }>(
    `with gone as (
       select id from unnest($1::int[]) id where pg_try_advisory_xact_lock($2, id)
     ), retired as (
       delete from workers w using gone g where w.id = g.id returning w.id, w.running
     ), settled as (
       update graphile_worker._private_jobs j
       set attempts = case when j.id = any(r.running) then j.attempts else greatest(0, j.attempts - 1) end,
           run_at = case when j.id = any(r.running) and j.attempts > 1
                      then now() + exp(least(j.attempts, 10)) * (0.5 + random()) * interval '1 second'
                      else j.run_at end
       from gone g left join retired r on r.id = g.id
       where j.locked_by = 'herald-' || g.id
     )
     select id from gone`,
    [ids, lockClass],
  );
  const retired = rows.map((row) => row.id);
  await query(
    `select graphile_worker.force_unlock_workers($1), pg_notify('jobs:insert', '{"count":1}')`,
    [retired.map(lockName)],
  );
  await query("commit");
  return retired;
}

/** Gives back jobs that were not begun. */
export async function returnJobs(query: Query, lockedBy: string, jobIds: string[]): Promise<void> {
  await query(
    `with returned as (
       update graphile_worker._private_jobs
       set locked_by = null, locked_at = null, attempts = greatest(0, attempts - 1)
       where id = any($2::bigint[]) and locked_by = $1 returning job_queue_id
     )
     update graphile_worker._private_job_queues q set locked_by = null, locked_at = null
     from returned r where q.id = r.job_queue_id and q.locked_by = $1`,
    [lockedBy, jobIds],
  );
}

export interface HeldJob {
  id: string;
  attempts: number;
}

/** The job is to come back after that time, and the attempt does not count. */
export async function postpone(
  query: Query,
  lockedBy: string,
  job: HeldJob,
  seconds: number,
): Promise<void> {
  await query({
    name: "postpone_job",
    text: `update graphile_worker._private_jobs
           set attempts = attempts - 1, run_at = now() + $4 * interval '1 second'
           where id = $1 and locked_by = $2 and attempts = $3`,
    values: [job.id, lockedBy, job.attempts, seconds],
  });
}

/** The job is to be dead once it is unlocked. */
export async function useUpAttempts(query: Query, lockedBy: string, job: HeldJob): Promise<void> {
  await query({
    name: "use_up_job_attempts",
    text: `update graphile_worker._private_jobs set attempts = max_attempts where id = $1 and locked_by = $2`,
    values: [job.id, lockedBy],
  });
}
