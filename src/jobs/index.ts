// The thin door to graphile-worker: enqueue inside the caller's transaction, tasks, crontab, dead jobs, and workers
// that watch each other. It knows no task: each is declared in the room that owns it and listed where a worker starts.
export { countDeadJobs, listDeadJobs, retryDeadJob } from "./dead.ts";
export { enqueue, enqueueMany } from "./enqueue.ts";
export { queueHealth } from "./health.ts";
export { migrateJobs } from "./migrate.ts";
export { Abandon, RetryLater, defineTask } from "./task.ts";
export type { JobContext, Task, TaskKind } from "./task.ts";
export { startWorker } from "./worker.ts";
export type { CrontabEntry } from "./runner.ts";
