import { z } from "zod";
import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import { inTransaction } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { callerOf } from "../http/index.ts";
import type { Caller, ZodTypes } from "../http/index.ts";
import { PlatformError } from "../platforms/index.ts";
import type { PlatformName } from "../platforms/index.ts";
import { fail, publishAs } from "./publish-run.ts";
import type { PublishDeps } from "./publish-run.ts";
import { claimRun, dropRunJob, findRun, insertRunNow } from "./run-queries.ts";
import { breaksRules } from "./rules.ts";
import type { KnownAccount } from "./targets.ts";
import { uuidv7 } from "./uuid.ts";

export interface PublishNowDeps extends PublishDeps {
  log: Logger;
  accountsOf(userId: string): Promise<readonly KnownAccount[]>;
}

const body = z.strictObject({
  text: z.string().min(1).max(100_000),
  accountId: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe("Needed where several accounts are connected"),
});
const answer = z.object({
  success: z.literal(true),
  id: z.string().nullable(),
  url: z.string().nullable(),
  accountId: z.string(),
});

async function accountFor(
  deps: PublishNowDeps,
  userId: string,
  platform: PlatformName,
  wanted: string | undefined,
): Promise<string> {
  const connected = (await deps.accountsOf(userId)).filter(
    (account) => account.platform === platform,
  );
  const accountId = wanted ?? (connected.length === 1 ? connected[0]?.accountId : undefined);
  if (accountId === undefined && connected.length > 1) {
    throw new AppError("missing_account", "Several accounts are connected: name one as accountId");
  }
  if (accountId === undefined || !connected.some((account) => account.accountId === accountId)) {
    throw new AppError("missing_integrations", "The account is not connected");
  }
  return accountId;
}

/**
 * Publishes while the caller waits. The run is recorded like any other, with a job for a minute later: if this process
 * dies before it knows the outcome, a worker finds out.
 */
async function publishNow(
  deps: PublishNowDeps,
  caller: Caller,
  input: z.output<typeof body>,
): Promise<z.output<typeof answer>> {
  const { db, registry, log } = deps;
  const platform = "linkedin";
  const accountId = await accountFor(deps, caller.userId, platform, input.accountId);
  const target = { targetId: `${platform}:${accountId}`, platform, accountId } as const;
  const details = breaksRules({ text: input.text, platform }, [target], registry);
  if (details.length > 0)
    throw new AppError("validation_error", "The request is not valid", { details });
  const ids = { submissionId: uuidv7(), runId: uuidv7() };
  await inTransaction(
    db,
    async (tx) => await insertRunNow(tx, { ...ids, caller, target, text: input.text }),
  );
  const run = await claimRun(db, ids.runId);
  const adapter = registry.get(platform);
  if (!run || !adapter) throw new Error("a run that was just made is not there");
  const work = { ...deps, run, adapter, post: { text: input.text }, log };
  try {
    await publishAs(work);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const { upstreamStatus, upstreamBody } = error;
    const facts = { postSubmissionId: ids.submissionId, upstreamStatus, upstreamBody };
    if (error.kind === "unknown") {
      const message = "The platform's answer was lost; whether it has the post is being found out";
      throw new AppError("publish_failed", message, {
        details: { ...facts, code: "outcome_unknown" },
        cause: error,
      });
    }
    const code = await fail(work, error);
    await dropRunJob(db, ids.runId);
    throw new AppError("publish_failed", error.message, {
      details: { ...facts, code },
      cause: error,
    });
  }
  await dropRunJob(db, ids.runId);
  const published = await findRun(db, ids.runId);
  return { success: true, id: published?.remoteId ?? null, url: published?.url ?? null, accountId };
}

/** The contract's `publishNetwork`, for signed-in users. */
export function publishNetworkRoute(deps: PublishNowDeps): FastifyPluginAsync {
  return async (scope) => {
    scope.withTypeProvider<ZodTypes>().post(
      "/publishNetwork",
      {
        config: {
          credential: "idToken",
          errors: ["missing_account", "missing_integrations", "publish_failed"],
        },
        schema: {
          tags: ["Posts"],
          summary: "Publish a text on the professional network now",
          body,
          response: { 200: answer },
        },
      },
      async (request) => await publishNow(deps, callerOf(request), request.body),
    );
  };
}
