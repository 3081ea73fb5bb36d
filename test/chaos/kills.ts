import { setTimeout as pause } from "node:timers/promises";
import { insist } from "../../src/db/index.ts";
import type { Stage } from "./stage.ts";

// Processes are killed at random moments, and at named points: right after something was written, before the process
// that wrote it hears so. The points are triggers of the test's own, which wait for a lock that the test holds.

const points = {
  "submission stored": "insert on submissions for each row",
  "runs made": "insert on runs for each row",
  "run taken up": "update on runs for each row when (new.fence <> old.fence)",
  "attempt recorded": "insert on attempts for each row",
  "answer recorded": "update on attempts for each row",
  "run ended": "update on runs for each row when (new.status = 'succeeded')",
};
type Written = keyof typeof points;
const written = Object.keys(points) as Written[];

export type Point = Written | "in the call" | "worker" | "api" | "database";
export interface Kill {
  atMs: number;
  point: Point;
  index: number;
}

const lockSpace = 4_711;
const patienceMs = 4_000;

/** Half of the kills hit a point in the life of a post, the others whatever is going on. */
export function planKills(random: () => number, kills: number, spanMs: number): Kill[] {
  const named: Point[] = [...written, "in the call", "in the call"];
  return Array.from({ length: kills }, () => {
    const draw = random();
    const point = named[Math.floor(random() * named.length)] ?? "worker";
    const other = draw < 0.8 ? "worker" : draw < 0.95 ? "api" : "database";
    return {
      atMs: random() * spanMs,
      point: draw < 0.5 ? point : other,
      index: Math.floor(random() * 8),
    } as const;
  }).sort((a, b) => a.atMs - b.atMs);
}

export async function installPoints({ db }: Stage): Promise<void> {
  await db.query(`create function crash_point() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${lockSpace}, tg_argv[0]::int); return null; end $$`);
  for (const [index, point] of written.entries()) {
    await db.query(
      `create trigger crash_point_${index} after ${points[point]} execute function crash_point('${index}')`,
    );
  }
}

async function poll<Found>(look: () => Promise<Found | undefined>): Promise<Found | undefined> {
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(5);
  }
  return undefined;
}

/** Holds everybody at the point, kills the first who comes, and lets the others go on. */
async function killAt({ db }: Stage, point: Written): Promise<number | undefined> {
  const place = [lockSpace, written.indexOf(point)];
  const client = await insist(async () => await db.connect());
  try {
    await client.query("select pg_advisory_lock($1, $2)", place);
    const pid = await poll(async () => {
      const { rows } = await client.query<{ name: string }>(
        `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
         where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and not l.granted limit 1`,
        place,
      );
      return rows[0] && Number(rows[0].name.replace("herald ", ""));
    });
    if (pid) end(pid);
    return pid;
  } finally {
    await client.query("select pg_advisory_unlock_all()");
    client.release();
  }
}

interface OpenCall {
  pid: number;
  runId: string;
}

/** Who is between having recorded an attempt and having recorded its outcome. */
async function openCalls({ db }: Stage): Promise<OpenCall[]> {
  const { rows } = await insist(
    async () =>
      await db.query<OpenCall>(
        `select w.pid, a.run_id as "runId" from attempts a
       join graphile_worker._private_jobs j on j.key = 'run:' || a.run_id
       join workers w on j.id = any (w.running)
       where a.outcome is null`,
      ),
  );
  return rows;
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // It may have been killed before, and not be back yet.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

export interface Struck {
  point: Point;
  /** Those whose outcome may stay unknown: the runs that the killed process had inside their call to the platform. */
  insideCall: string[];
}

/** Where nobody comes to a point in time, a worker is killed at this moment. */
export async function strike(stage: Stage, { point, index }: Kill): Promise<Struck> {
  if (point === "database") {
    await stage.killDatabase();
    return { point, insideCall: [] };
  }
  let pid: number | undefined;
  if (point === "in the call") {
    pid = (await poll(async () => (await openCalls(stage))[0]))?.pid;
    if (pid) end(pid);
  } else if (point !== "worker" && point !== "api") pid = await killAt(stage, point);
  const hit = pid ? point : point === "api" ? "api" : "worker";
  pid ??= stage.pidOf(hit === "api" ? "api" : "worker", index);
  if (hit === "api" || hit === "worker") end(pid ?? 0);
  // What it had sent to the database is still carried out.
  await pause(50);
  const calls = await openCalls(stage);
  return {
    point: hit,
    insideCall: calls.filter((call) => call.pid === pid).map(({ runId }) => runId),
  };
}
