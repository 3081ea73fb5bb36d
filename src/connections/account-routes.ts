import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { z } from "zod";
import { inTransaction } from "../db/index.ts";
import type { Pool } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { audit, callerOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import type { Registry } from "../platforms/index.ts";
import { deleteAccount, listAccounts, setRepost } from "./queries.ts";
import type { Account, AccountKey } from "./queries.ts";
import {
  account,
  accountParams,
  changeAccountBody,
  disconnectAnswer,
  listAccountsAnswer,
} from "./schema.ts";
import type { AccountAnswer } from "./schema.ts";

function toAnswer(found: Account): AccountAnswer {
  const { platform, accountId, scope, expiresIn, authorUrn, status } = found;
  const { displayName, username, avatarUrl } = found;
  return {
    platform,
    accountId,
    tokenType: "bearer",
    scope,
    expiresIn,
    expiresAt: found.expiresAt.toISOString(),
    updatedAt: found.updatedAt.toISOString(),
    profile: { platformId: accountId, displayName, username, avatarUrl },
    authorUrn,
    enabled_for_repost: found.enabledForRepost,
    status,
  };
}

const notConnected = (): AppError => new AppError("not_found", "No such account is connected");

/** Mounted twice: for API keys below the API's root, for ID tokens below the web app's. */
export function accountRoutes(
  { db, registry }: { db: Pool; registry: Registry },
  credential: "apiKey" | "idToken",
): FastifyPluginAsync {
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();
    const config = { credential };
    const tags = ["Accounts"];

    function keyOf(request: FastifyRequest, params: z.infer<typeof accountParams>): AccountKey {
      const platform = registry.resolve(params.platform);
      if (!platform) throw notConnected();
      return { userId: callerOf(request).userId, platform, accountId: params.accountId };
    }

    app.get(
      "/accounts",
      {
        config,
        schema: {
          tags,
          summary: "List your connected accounts",
          response: { 200: listAccountsAnswer },
        },
      },
      async (request) => ({
        accounts: (await listAccounts(db, callerOf(request).userId)).map(toAnswer),
      }),
    );

    app.patch(
      "/accounts/:platform/:accountId",
      {
        config,
        schema: {
          tags,
          summary: "Turn reposting on or off",
          params: accountParams,
          body: changeAccountBody,
          response: { 200: account },
        },
      },
      async (request) => {
        const changed = await setRepost(
          db,
          keyOf(request, request.params),
          request.body.enabled_for_repost,
        );
        if (!changed) throw notConnected();
        return toAnswer(changed);
      },
    );

    app.delete(
      "/accounts/:platform/:accountId",
      {
        config,
        schema: {
          tags,
          summary: "Disconnect an account",
          description:
            "Its tokens are forgotten. What is being published at this moment is not called back.",
          params: accountParams,
          response: { 200: disconnectAnswer },
        },
      },
      async (request) => {
        const key = keyOf(request, request.params);
        await inTransaction(db, async (tx) => {
          if (!(await deleteAccount(tx, key))) throw notConnected();
          const subject = `${key.platform}/${key.accountId}`;
          await audit(tx, request, { actor: key.userId, action: "account.disconnect", subject });
        });
        return { disconnected: true } as const;
      },
    );
  };
}
