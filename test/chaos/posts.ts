import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { insist } from "../../src/db/index.ts";
import { installPoints, planKills, strike } from "./kills.ts";
import type { Struck } from "./kills.ts";
import { acceptances } from "./queue-up.ts";
import { createRandom } from "./random.ts";
import { setStage } from "./stage.ts";
import type { Stage } from "./stage.ts";

// Posts are submitted and published while workers, APIs and the database are killed. The sandbox's journal is the judge:
// what it accepted was published, whatever our database says.

export interface ChaosOptions {
  posts: number;
  kills: number;
  seed: number;
  /** A platform that neither refuses a repeat nor can be asked: what was sent may never be sent again. */
  isTellingNothing: boolean;
  say(line: string): void;
}

export interface Report {
  accepted: number;
  succeeded: number;
  unconfirmed: number;
  failed: number;
  lost: number;
  doubled: number;
  /** How many kills hit which point. */
  kills: Partial<Record<Struck["point"], number>>;
  problems: string[];
}

// A user may send 30 a minute, and repeats count.
const postsPerUser = 8;

interface Submitted {
  text: string;
  id: string;
}

/** As a careful client does: the same key until there is an answer. */
async function submit(stage: Stage, index: number, text: string): Promise<Submitted> {
  const user = stage.users[index % stage.users.length];
  const key = randomUUID();
  for (let attempt = 0; ; attempt++) {
    const api = stage.apiUrls[attempt % stage.apiUrls.length];
    try {
      const answer = await fetch(`${api}/v1/posts`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "svc-api-key": user?.key ?? "",
          "idempotency-key": key,
        },
        body: JSON.stringify({ post: { content: { text, platform: "linkedin" } } }),
      });
      const body = (await answer.json()) as { postSubmissionId?: string };
      if (answer.status === 201 && body.postSubmissionId)
        return { text, id: body.postSubmissionId };
      if (answer.status < 500) throw new Error(`refused: ${answer.status} ${JSON.stringify(body)}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("refused")) throw error;
      if (attempt > 600) throw new Error("no API answers any more", { cause: error });
    }
    await pause(50);
  }
}

async function tell(stage: Stage, path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${stage.sandboxUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the sandbox refused: ${await answer.text()}`);
}

/** Some calls are held open, before or after the platform took the post, so that kills hit them there. */
async function holdCalls(stage: Stage, phase: "before" | "after", seed: number): Promise<void> {
  const rule = {
    service: "linkedin",
    operation: "linkedin.ugcPosts.create",
    effect: "delay",
    ms: 150,
    phase,
    probability: 0.1,
    seed,
  };
  await tell(stage, "/_sandbox/faults", rule);
}

interface RunRow {
  id: string;
  submission_id: string;
  status: string;
  code: string | null;
}

async function settled(stage: Stage, ids: string[], limitMs: number): Promise<RunRow[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const rows = await stage.db
      .query<RunRow>(
        "select id, submission_id, status, error->>'code' as code from runs where submission_id = any($1)",
        [ids],
      )
      .then(
        (result) => result.rows,
        () => [],
      );
    const isDone =
      rows.length === ids.length &&
      rows.every((row) => row.status === "succeeded" || row.status === "failed");
    if (isDone || performance.now() > deadline) return rows;
    await pause(200);
  }
}

interface Evidence {
  submitted: Submitted[];
  runs: RunRow[];
  accepted: Map<string, Date[]>;
  struck: Struck[];
}

function judge({ submitted, runs, accepted, struck }: Evidence): Report {
  const report: Report = {
    accepted: submitted.length,
    succeeded: 0,
    unconfirmed: 0,
    failed: 0,
    lost: 0,
    doubled: 0,
    kills: {},
    problems: [],
  };
  for (const { point } of struck) report.kills[point] = (report.kills[point] ?? 0) + 1;
  const insideCall = new Set(struck.flatMap((each) => each.insideCall));
  const byId = new Map(runs.map((run) => [run.submission_id, run]));
  for (const { id, text } of submitted) {
    const published = accepted.get(text)?.length ?? 0;
    const run = byId.get(id);
    if (published > 1) {
      report.doubled += 1;
      report.problems.push(`doubled: ${id} was published ${published} times`);
    }
    if (run?.status === "succeeded") {
      report.succeeded += 1;
      if (published === 0)
        report.problems.push(`lost: ${id} succeeded, but the platform has nothing`);
      if (published === 0) report.lost += 1;
    } else if (run?.code === "outcome_unknown") {
      report.unconfirmed += 1;
      if (!insideCall.has(run.id))
        report.problems.push(`unexplained: ${id} is unknown, and no kill hit its call`);
    } else if (run?.status === "failed") {
      report.failed += 1;
      report.problems.push(`failed: ${id} with ${run.code}, published ${published} times`);
    } else {
      report.lost += 1;
      report.problems.push(`lost: ${id} is ${run?.status ?? "without a run"}`);
    }
  }
  return report;
}

export async function chaosPosts(options: ChaosOptions): Promise<Report> {
  const { posts, kills, seed, isTellingNothing, say } = options;
  const random = createRandom(seed);
  const settings: Record<string, string> = isTellingNothing
    ? { NETWORK_REFUSES_REPEATS_SECONDS: "0" }
    : {};
  const stage = await setStage(Math.ceil(posts / postsPerUser), { settings });
  try {
    if (isTellingNothing) await tell(stage, "/linkedin/_control", { refusesDuplicates: false });
    await installPoints(stage);
    await holdCalls(stage, "before", seed);
    await holdCalls(stage, "after", seed + 1);
    const spanMs = Math.max(10_000, posts * 60);
    const schedule = planKills(random, kills, spanMs);
    const startedAt = performance.now();
    const submitting = Promise.all(
      Array.from({ length: posts }, async (_, index) => {
        await pause(random() * spanMs);
        return await submit(stage, index, `chaos ${seed} post ${index} ${randomUUID()}`);
      }),
    );
    const struck: Struck[] = [];
    for (const kill of schedule) {
      await pause(Math.max(0, startedAt + kill.atMs - performance.now()));
      struck.push(await strike(stage, kill));
    }
    const submitted = await submitting;
    say(
      `${submitted.length} accepted, ${kills} kills done after ${Math.round((performance.now() - startedAt) / 1_000)} s`,
    );
    // A job that was there at several kills waits for minutes, as it may be what kills. It need not wait here.
    await insist(async () => {
      await stage.db.query(
        "update graphile_worker._private_jobs set run_at = now() where locked_at is null and key like 'run:%'",
      );
    });
    const runs = await settled(
      stage,
      submitted.map(({ id }) => id),
      120_000,
    );
    return judge({ submitted, runs, accepted: await acceptances(stage), struck });
  } finally {
    await stage.stop();
  }
}
