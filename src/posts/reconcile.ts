import { z } from "zod";
import type { Db } from "../db/index.ts";
import { defineTask } from "../jobs/index.ts";
import { PlatformError } from "../platforms/index.ts";
import type { PlatformName, Published } from "../platforms/index.ts";
import type { PublishDeps } from "./publish-run.ts";

interface UnknownRun {
  id: string;
  userId: string;
  platform: PlatformName;
  accountId: string;
  text: string | null;
}

async function unknownRuns(db: Db, platforms: string[]): Promise<UnknownRun[]> {
  const { rows } = await db.query<UnknownRun>(
    `select r.id, r.user_id as "userId", r.platform, r.account_id as "accountId", s.content->>'text' as text
     from runs r join submissions s on s.id = r.submission_id
     where r.status = 'failed' and r.error->>'code' = 'outcome_unknown' and r.platform = any($1)
       and r.finished_at > now() - interval '7 days'
     order by r.finished_at limit 100`,
    [platforms],
  );
  return rows;
}

/** Only what is still unknown is changed: somebody may have settled it meanwhile. */
async function settle(db: Db, run: UnknownRun, found: Published | null): Promise<void> {
  const isUnknown = "id = $1 and status = 'failed' and error->>'code' = 'outcome_unknown'";
  if (found) {
    await db.query(
      `update runs set status = 'succeeded', error = null, remote_id = $2, url = $3 where ${isUnknown}`,
      [run.id, found.remoteId, found.url],
    );
    return;
  }
  const error = {
    code: "not_published",
    message: "The platform does not have the post",
    retryable: true,
  };
  await db.query(`update runs set error = error || $2::jsonb where ${isUnknown}`, [
    run.id,
    JSON.stringify(error),
  ]);
}

/**
 * Looks for posts whose outcome stayed unknown, on platforms that can tell. It publishes nothing: hours later that is
 * for the user to decide, who can retry what turned out not to be there.
 */
export function reconcileTask({ db, registry, openAccount }: PublishDeps) {
  return defineTask({
    name: "posts.reconcile",
    payload: z.looseObject({}),
    async run(_payload, { log }) {
      const tellers = registry.all().filter((adapter) => adapter.find);
      if (tellers.length === 0) return;
      for (const run of await unknownRuns(
        db,
        tellers.map((adapter) => adapter.name),
      )) {
        try {
          const { call } = await openAccount(run);
          const found = await registry.get(run.platform)?.find?.({ text: run.text ?? "" }, call);
          if (found !== undefined) await settle(db, run, found);
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error;
          log.info({ runId: run.id, kind: error.kind }, "the outcome stays unknown");
        }
      }
    },
  });
}
