import type { Db } from "../db/index.ts";

export interface QueueHealth {
  workers: number;
  /** Jobs that could run now. */
  due: number;
  oldestDueSeconds: number;
  /** When a worker that is alive last began or ended a job. */
  lastProgressAt: Date | null;
  dead: number;
  /** False when jobs are waiting and for 10 seconds nobody began or ended one. */
  isProgressing: boolean;
}

const patienceSeconds = 10;

export async function queueHealth(db: Db): Promise<QueueHealth> {
  const { rows } = await db.query<QueueHealth>({
    name: "queue_health",
    text: `select w.workers, d.due, d.age as "oldestDueSeconds", w.progress as "lastProgressAt", x.dead,
             d.age < $1 or coalesce(w.sign_of_life > now() - $1 * interval '1 second', false) as "isProgressing"
           from (select count(*)::int as workers, max(last_progress_at) as progress,
                        max(coalesce(last_progress_at, started_at)) as sign_of_life from workers) w,
                (select count(*)::int as due,
                        coalesce(extract(epoch from now() - min(run_at)), 0)::float8 as age
                 from graphile_worker._private_jobs where is_available and run_at <= now()) d,
                (select count(*)::int as dead from graphile_worker._private_jobs
                 where attempts >= max_attempts and locked_at is null) x`,
    values: [patienceSeconds],
  });
  const [health] = rows;
  if (!health) throw new Error("the queue's health is unknown");
  return health;
}
