import { hash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Logger } from "pino";
import { insist } from "../db/index.ts";
import type { Pool } from "../db/index.ts";
import { PlatformError } from "../platforms/index.ts";
import type {
  Call,
  OutgoingPost,
  PlatformAdapter,
  Published,
  Registry,
} from "../platforms/index.ts";
import { endAttempt, failRun, isStillOurs, recordAttempt, succeedRun } from "./run-queries.ts";
import type { AttemptOutcome, ClaimedRun } from "./run-queries.ts";
import { codeOf } from "./setbacks.ts";

export type AccountOfRun = Pick<ClaimedRun, "userId" | "platform" | "accountId">;

/** An account with a token that is good now, and is not the one refused; throws `PlatformError` where there is none. */
export type OpenAccount = (
  wanted: AccountOfRun & { refusedVersion?: string },
) => Promise<{ call: Call; account: { tokenVersion: string }; refused(): Promise<void> }>;

export interface PublishDeps {
  db: Pool;
  registry: Registry;
  openAccount: OpenAccount;
  saveAuthorUrn(account: AccountOfRun, urn: string): Promise<void>;
}

// A worker that was paused between recording and sending looks again before it sends.
const recordIsFreshMs = 1_000;

export interface Work extends PublishDeps {
  run: ClaimedRun;
  adapter: PlatformAdapter;
  post: OutgoingPost;
  log: Logger;
}

const outcomeOf: Record<PlatformError["kind"], AttemptOutcome["outcome"]> = {
  reconnect: "refused",
  rejected: "refused",
  duplicate: "duplicate",
  retry: "not_sent",
  unknown: "unknown",
};

/** The irreversible call, recorded before; a refusal is recorded after, a success with the run. Undefined: another worker has the run, and nothing was sent. */
async function attempt(work: Work, call: Call, number: number): Promise<Published | undefined> {
  const { db, run, adapter, post } = work;
  const askedAt = performance.now();
  if (!(await recordAttempt(db, run, number, hash("sha256", JSON.stringify(post)))))
    return undefined;
  if (performance.now() - askedAt > recordIsFreshMs && !(await isStillOurs(db, run)))
    return undefined;
  try {
    return await adapter.publish(post, call);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const { kind, upstreamStatus, remoteId } = error;
    await insist(async () => {
      await endAttempt(db, run, { number, outcome: outcomeOf[kind], upstreamStatus, remoteId });
    });
    throw error;
  }
}

async function succeed(work: Work, published: Published): Promise<void> {
  const { db, run, log } = work;
  const written = await insist(async () => await succeedRun(db, run, published));
  if (written === "taken") {
    const error = new PlatformError(
      "duplicate",
      "The platform already has a post with this content from this account",
    );
    await fail(work, error);
  } else if (written === "settled before")
    log.warn({ runId: run.id }, "published, and settled by another worker before");
}

/** Whatever stopped us now: while an earlier attempt is in doubt, the post may be out there. */
export async function fail({ db, run }: Work, error: PlatformError): Promise<string> {
  const isInDoubt = run.doubtMs !== null && error.kind !== "duplicate";
  const code = isInDoubt ? "outcome_unknown" : codeOf(error);
  await failRun(db, run, {
    code,
    message: error.message,
    retryable: code !== "outcome_unknown" && error.kind === "retry",
    ...(error.upstreamStatus === undefined ? {} : { upstreamStatus: error.upstreamStatus }),
    ...(error.upstreamBody === undefined ? {} : { upstreamBody: error.upstreamBody }),
  });
  return code;
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

/** A post names its author. An account that was stored without one gets it now, and keeps it. */
async function withAuthor({ adapter, run, saveAuthorUrn }: Work, call: Call): Promise<Call> {
  if (!call.account || call.account.authorUrn !== null) return call;
  const { authorUrn } = await adapter.profile(call);
  if (authorUrn !== null) await saveAuthorUrn(run, authorUrn);
  return { ...call, account: { ...call.account, authorUrn } };
}

async function publish(work: Work, bareCall: Call): Promise<void> {
  const { db, run } = work;
  const call = await withAuthor(work, bareCall);
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
export async function publishAs(work: Work): Promise<void> {
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
