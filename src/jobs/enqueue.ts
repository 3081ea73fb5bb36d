import type { ZodType, input } from "zod";
import type { Db } from "../db/index.ts";
import type { TaskKind } from "./task.ts";

export interface JobOptions {
  /** Now unless told. */
  runAt?: Date;
  /** A waiting job with the same key is replaced by this one. */
  jobKey?: string;
  /** Lower runs sooner; 0 unless told. */
  priority?: number;
  maxAttempts?: number;
  /** Jobs of one queue run one after the other. Queues are rows that stay: few names, not one per job. */
  queueName?: string;
}

export interface JobSpec<Schema extends ZodType = ZodType> {
  task: TaskKind<Schema>;
  payload: input<Schema>;
  options?: JobOptions;
}

/** Returns the job's id. With a transaction as `db`, the job exists if and only if the transaction commits. */
export async function enqueue<Schema extends ZodType>(
  db: Db,
  task: TaskKind<Schema>,
  payload: input<Schema>,
  options: JobOptions = {},
): Promise<string> {
  const { rows } = await db.query<{ id: string }>({
    name: "enqueue_job",
    text: `select id from graphile_worker.add_job(
             $1, payload => $2::json, queue_name => $3, run_at => $4, max_attempts => $5::int,
             job_key => $6, priority => $7::int)`,
    values: [
      task.name,
      JSON.stringify(payload),
      options.queueName,
      options.runAt,
      options.maxAttempts ?? task.maxAttempts,
      options.jobKey,
      options.priority,
    ],
  });
  const [job] = rows;
  if (!job) throw new Error(`no job was made for ${task.name}`);
  return job.id;
}

/** One statement for all: 50 jobs cost little more than one. */
export async function enqueueMany<Schema extends ZodType>(
  db: Db,
  specs: readonly JobSpec<Schema>[],
): Promise<void> {
  if (specs.length === 0) return;
  const records = specs.map(({ task, payload, options = {} }) => ({
    identifier: task.name,
    payload,
    queue_name: options.queueName,
    run_at: options.runAt,
    max_attempts: options.maxAttempts ?? task.maxAttempts,
    job_key: options.jobKey,
    priority: options.priority,
  }));
  await db.query({
    name: "enqueue_jobs",
    text: `select count(*) from graphile_worker.add_jobs(
             array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json)))`,
    values: [JSON.stringify(records)],
  });
}
