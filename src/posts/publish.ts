import { hash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { z } from "zod";
import type { Pool } from "../db/index.ts";
import { RetryLater, defineTask } from "../jobs/index.ts";
import type { JobContext } from "../jobs/index.ts";
import { PlatformError } from "../platforms/index.ts";
import type {
  Call,
  OutgoingPost,
  PlatformAdapter,
  Published,
  Registry,
} from "../platforms/index.ts";
import {
  claimRun,
  endAttempt,
  failRun,
  isStillOurs,
  pauseAccount,
  recordAttempt,
  succeedRun,
} from "./run-queries.ts";
import type { AttemptOutcome, ClaimedRun } from "./run-queries.ts";
import { codeOf, waitSeconds } from "./setbacks.ts";

type AccountOfRun = Pick<ClaimedRun, "userId" | "platform" | "accountId">;

/** An account with a token that is good now, and is not the one refused; throws `PlatformError` where there is none. */
export type OpenAccount = (
  wanted: AccountOfRun & { refusedVersion?: string },
) => Promise<{ call: Call; account: { tokenVersion: string }; refused(): Promise<void> }>;

export interface PublishDeps {
  db: Pool;
  registry: Registry;
  openAccount: OpenAccount;
}

const maxSetbacks = 8;
const maxAttempts = 50;
// A worker that was paused between recording and sending looks again before it sends.
const recordIsFreshMs = 1_000;

interface Work extends PublishDeps {
  run: ClaimedRun;
  adapter: PlatformAdapter;
  post: OutgoingPost;
  log: JobContext["log"];
}

const outcomeOf: Record<PlatformError["kind"], AttemptOutcome["outcome"]> = {
  reconnect: "refused",
  rejected: "refused",
  duplicate: "duplicate",
  retry: "not_sent",
  unknown: "unknown",
};

/** The irreversible call, recorded before and after. Undefined: another worker has the run, and nothing was sent. */
async function attempt(work: Work, call: Call, number: number): Promise<Published | undefined> {
  const { db, run, adapter, post } = work;
  if (!(await recordAttempt(db, run, number, hash("sha256", JSON.stringify(post)))))
    return undefined;
  const recordedAt = performance.now();
  if (performance.now() - recordedAt > recordIsFreshMs && !(await isStillOurs(db, run)))
    return undefined;
  try {
    const published = await adapter.publish(post, call);
    await endAttempt(db, run, { number, outcome: "published", remoteId: published.remoteId });
    return published;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const { kind, upstreamStatus, remoteId } = error;
    await endAttempt(db, run, { number, outcome: outcomeOf[kind], upstreamStatus, remoteId });
    throw error;
  }
}

async function succeed(work: Work, published: Published): Promise<void> {
  const { db, run, log } = work;
  const isWritten = await succeedRun(db, run, published);
  if (isWritten === "taken") {
    const error = new PlatformError(
      "duplicate",
      "The platform already has a post with this content from this account",
    );
    await fail(work, error);
  } else if (!isWritten)
    log.warn({ runId: run.id }, "published, but another worker had taken the run over");
}

async function fail(
  { db, run }: Work,
  error: PlatformError,
  code: string = codeOf(error),
): Promise<void> {
  await failRun(db, run, {
    code,
    message: error.message,
    retryable: code !== "outcome_unknown" && error.kind === "retry",
    ...(error.upstreamStatus === undefined ? {} : { upstreamStatus: error.upstreamStatus }),
    ...(error.upstreamBody === undefined ? {} : { upstreamBody: error.upstreamBody }),
  });
}

/**
 * An earlier attempt was sent and nobody heard the answer. The platform is asked where it can be; where it refuses
 * repeats, a repeat tells; else the outcome stays unknown and nothing is sent again.
 */
async function settleDoubt(
  work: Work,
  call: Call,
  doubtMs: number,
): Promise<Published | "not there" | undefined> {
  const { adapter, post, run } = work;
  if (adapter.find) return (await adapter.find(post, call)) ?? "not there";
  if (doubtMs < (adapter.refusesRepeatsForMs ?? 0)) {
    try {
      return await attempt(work, call, run.attempts + 1);
    } catch (error) {
      if (error instanceof PlatformError && error.kind === "duplicate" && error.remoteId)
        return { remoteId: error.remoteId, url: adapter.permalink(error.remoteId) };
      throw error;
    }
  }
  throw new PlatformError(
    "unknown",
    "The platform may or may not have the post, and can't be asked",
  );
}

async function publish(work: Work, call: Call): Promise<void> {
  const { db, run } = work;
  if (run.doubtMs !== null) {
    const found = await settleDoubt(work, call, run.doubtMs);
    if (found === undefined) return;
    if (found !== "not there") return await succeed(work, found);
    await endAttempt(db, run, { number: run.attempts, outcome: "not_sent" });
  }
  const published = await attempt(work, call, run.attempts + 1);
  if (published) await succeed(work, published);
}

/** A token can be refused before its time. One that can be replaced is, once; else the account is marked. */
async function publishAs(work: Work): Promise<void> {
  const { run, openAccount } = work;
  const first = await openAccount(run);
  try {
    return await publish(work, first.call);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.kind !== "reconnect") throw error;
  }
  const second = await openAccount({ ...run, refusedVersion: first.account.tokenVersion });
  try {
    await publish({ ...work, run: { ...run, attempts: run.attempts + 1 } }, second.call);
  } catch (error) {
    if (error instanceof PlatformError && error.kind === "reconnect") await second.refused();
    throw error;
  }
}

/** Decides what a failure means for the run: try again later, or this is the end of it. */
async function handle(work: Work, error: PlatformError): Promise<void> {
  const { db, run, adapter } = work;
  const canRepeat =
    adapter.find !== undefined || (run.doubtMs ?? 0) < (adapter.refusesRepeatsForMs ?? 0);
  const isHopeful = run.setbacks < maxSetbacks && run.attempts < maxAttempts;
  if (error.kind === "unknown" && canRepeat && isHopeful)
    throw new RetryLater(waitSeconds(error, run.attempts), error.message);
  if (error.kind === "retry" && isHopeful) {
    const seconds = waitSeconds(error, run.setbacks);
    if (error.upstreamStatus === 429) await pauseAccount(db, run, seconds);
    throw new RetryLater(seconds, error.message);
  }
  await fail(work, error);
}

/** Publishes one run, once. */
export function publishTask(deps: PublishDeps) {
  return defineTask({
    name: "posts.publish",
    payload: z.object({ runId: z.uuid() }),
    async run({ runId }, { log }) {
      const run = await claimRun(deps.db, runId);
      if (!run) return;
      const adapter = deps.registry.get(run.platform);
      if (!adapter) throw new Error(`there is no adapter for ${run.platform}`);
      if (run.pausedMs > 0)
        throw new RetryLater(run.pausedMs / 1_000, "the platform asked this account to wait");
      const work: Work = { ...deps, run, adapter, post: { text: run.content.text ?? "" }, log };
      try {
        await publishAs(work);
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        await handle(work, error);
      }
    },
  });
}
