import { setTimeout as pause } from "node:timers/promises";
import { acceptances, percentile, queueUp } from "./queue-up.ts";
import { setStage } from "./stage.ts";
import type { Stage } from "./stage.ts";

// Posts fire at their time: never early, seldom late; and after the workers were down, all of them, once, in order.

export interface ScheduleReport {
  posts: number;
  missing: number;
  doubled: number;
  early: number;
  lateP50Ms: number;
  lateP99Ms: number;
  /** After the workers were away over the due times: how many places a post was begun from where its time put it. */
  furthestFromPlace: number;
}

async function untilPublished(stage: Stage, count: number, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const { rows } = await stage.db.query<{ done: number }>(
      "select count(*)::int as done from runs where status in ('succeeded', 'failed')",
    );
    if ((rows[0]?.done ?? 0) >= count || performance.now() > deadline) return;
    await pause(250);
  }
}

export async function schedulePosts({
  posts,
  spanMs,
}: {
  posts: number;
  spanMs: number;
}): Promise<ScheduleReport> {
  const stage = await setStage(1, { workers: 2, apis: 1 });
  try {
    const startAt = Date.now() + 15_000 + posts;
    const dueTimes = Array.from(
      { length: posts },
      (_, index) => new Date(startAt + (index * spanMs) / posts),
    );
    const onTime = await queueUp(stage, 0, dueTimes, "scheduled");
    await untilPublished(stage, posts, startAt + spanMs + 60_000 - Date.now());

    // Down over the due times of some more, then back.
    await stage.stopWorkers();
    const few = Math.ceil(posts / 10);
    const missed = await queueUp(
      stage,
      0,
      Array.from({ length: few }, (_, index) => new Date(Date.now() + (index * 2_000) / few)),
      "missed",
    );
    await stage.db.query(
      "update graphile_worker._private_jobs set run_at = run_at - interval '10 minutes'",
    );
    await stage.db.query(
      "update submissions set due_at = due_at - interval '10 minutes' where status = 'queued'",
    );
    stage.startWorkers();
    await untilPublished(stage, posts + few, 120_000);

    const accepted = await acceptances(stage);
    const lateness = onTime.flatMap(
      ({ text, dueAt }) =>
        accepted.get(text)?.map((at) => at.getTime() - (dueAt?.getTime() ?? 0)) ?? [],
    );
    const all = [...onTime, ...missed].map(({ text }) => accepted.get(text)?.length ?? 0);
    const { rows } = await stage.db.query<{ id: string }>(
      "select submission_id as id from runs where submission_id = any($1) order by created_at",
      [missed.map(({ id }) => id)],
    );
    const order = new Map(missed.map(({ id }, index) => [id, index]));
    const begun = rows.map(({ id }) => order.get(id) ?? 0);
    return {
      posts: posts + few,
      missing: all.filter((count) => count === 0).length,
      doubled: all.filter((count) => count > 1).length,
      early: lateness.filter((late) => late < 0).length,
      lateP50Ms: Math.round(percentile(lateness, 0.5)),
      lateP99Ms: Math.round(percentile(lateness, 0.99)),
      furthestFromPlace: Math.max(...begun.map((place, index) => Math.abs(place - index))),
    };
  } finally {
    await stage.stop();
  }
}
