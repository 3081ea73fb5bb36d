import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { ErrorDetail } from "../errors.ts";
import type { Caller } from "../http/index.ts";
import type { MediaRecord } from "../media/index.ts";
import type { Registry } from "../platforms/index.ts";
import type { Sealer } from "../sealing.ts";
import type { Acceptance, NewSubmission } from "./queries.ts";
import { breaksRules } from "./rules.ts";
import type { SubmitBody } from "./schema.ts";
import { resolveTargets } from "./targets.ts";
import type { KnownAccount, Target } from "./targets.ts";
import { uuidv7 } from "./uuid.ts";

const minLeadMs = 60_000;

export interface SubmitDeps {
  clock: Clock;
  sealer: Sealer;
  registry: Registry;
  /** Both are batched: what arrives together goes to the database together. */
  accountsOf(userId: string): Promise<readonly KnownAccount[]>;
  accept(submission: NewSubmission): Promise<Acceptance>;
  mediaOf(userId: string, ids: readonly string[]): Promise<readonly MediaRecord[]>;
  recall(userId: string, idempotency: IdempotencyFacts): Promise<Acceptance | undefined>;
}

export interface IdempotencyFacts {
  endpoint: string;
  keyHash: string;
  bodyHash: string;
}

export function leadProblem(scheduledTime: string | null | undefined, clock: Clock): ErrorDetail[] {
  if (scheduledTime == null || Date.parse(scheduledTime) - clock.now().getTime() >= minLeadMs)
    return [];
  return [
    {
      field: "body.scheduledTime",
      message: "must be at least 1 minute in the future",
      code: "too_early",
    },
  ];
}

const unknownMedia = (id: string, index: number): ErrorDetail => ({
  field: `body.post.content.mediaIds.${index}`,
  message: `There is no media ${id.slice(0, 64)} of yours`,
  code: "unknown_media",
});

export interface Examined {
  targets: Target[];
  invalid: ErrorDetail[];
  missing: ErrorDetail[];
}

/** Everything that can be said about a submission without the platforms. */
export async function examine(
  deps: SubmitDeps,
  userId: string,
  body: SubmitBody,
): Promise<Examined> {
  const { content } = body.post;
  const { targets, problems } = resolveTargets(
    content.platform,
    await deps.accountsOf(userId),
    deps.registry,
  );
  const ids = content.mediaIds ?? [];
  const media = ids.length === 0 ? [] : await deps.mediaOf(userId, ids);
  const known = new Set(media.map(({ id }) => id));
  const invalid = [
    ...leadProblem(body.scheduledTime, deps.clock),
    ...problems.invalid,
    ...ids.flatMap((id, index) => (known.has(id) ? [] : [unknownMedia(id, index)])),
    ...breaksRules(content, targets, deps.registry),
  ];
  return { targets, invalid, missing: problems.missing };
}

/** Accepts a post: from the answer on it is going to be published once, at its time. */
export async function submit(
  deps: SubmitDeps,
  caller: Caller,
  body: SubmitBody,
  idempotency: IdempotencyFacts,
): Promise<{ postSubmissionId: string; isRepeat: boolean }> {
  const { targets, invalid, missing } = await examine(deps, caller.userId, body);
  const place = `idempotency/${caller.userId}/${idempotency.endpoint}/${idempotency.keyHash}`;
  const replay = ({ bodyHash, answer: sealed }: Acceptance) => {
    if (bodyHash !== idempotency.bodyHash) {
      throw new AppError("idempotency_conflict", "This idempotency key was used with another body");
    }
    const stored = JSON.parse(deps.sealer.open(sealed, place)) as {
      body: { postSubmissionId: string };
    };
    return { ...stored.body, isRepeat: true };
  };
  if (invalid.length > 0 || missing.length > 0) {
    // A repeat may come when its time is near or its account is gone: the first one was accepted all the same.
    const earlier = await deps.recall(caller.userId, idempotency);
    if (earlier) return replay(earlier);
    throw invalid.length > 0
      ? new AppError("validation_error", "The request is not valid", { details: invalid })
      : new AppError("missing_integrations", "Not every target is connected", { details: missing });
  }
  const { platform: _platform, ...content } = body.post.content;
  const id = uuidv7();
  const answer = { status: 201, body: { postSubmissionId: id } };
  const accepted = await deps.accept({
    id,
    userId: caller.userId,
    keyId: caller.keyId ?? null,
    ...idempotency,
    answer: deps.sealer.seal(JSON.stringify(answer), place),
    content,
    targets,
    scheduledTime: body.scheduledTime ?? null,
    enableRepurposing: body.enableRepurposing,
    trialReel: body.trial_reel,
  });
  return accepted.isNew ? { ...answer.body, isRepeat: false } : replay(accepted);
}
