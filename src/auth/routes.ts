import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { inTransaction } from "../db/index.ts";
import type { Pool } from "../db/index.ts";
import { answerOnce, audit, callerOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import type { Sealer } from "../sealing.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";
import {
  createKeyAnswer,
  createKeyBody,
  keyParams,
  listKeysAnswer,
  meAnswer,
  revokeKeyAnswer,
} from "./schema.ts";

/** For a client that wants to know whether its key works, and whose it is. */
export const meRoute: FastifyPluginAsync = async (scope) => {
  scope.withTypeProvider<ZodTypes>().get(
    "/me",
    {
      config: { credential: "apiKey" },
      schema: { tags: ["API keys"], summary: "Who am I?", response: { 200: meAnswer } },
    },
    (request) => {
      const { userId, keyId = "", keyName = null, tier } = callerOf(request);
      return { userId, keyId, keyName, tier };
    },
  );
};

/** Key management, for signed-in users. Mounted twice: below the API's root and below the web app's. */
export function keyRoutes({ db, sealer }: { db: Pool; sealer: Sealer }): FastifyPluginAsync {
  return async (scope: FastifyInstance) => {
    const app = scope.withTypeProvider<ZodTypes>();
    const config = { credential: "idToken" } as const;
    const tags = ["API keys"];

    app.post(
      "/api-keys",
      {
        config,
        schema: {
          tags,
          summary: "Create a key",
          body: createKeyBody,
          response: { 201: createKeyAnswer },
        },
      },
      async (request, reply) =>
        await answerOnce({ db, sealer }, request, reply, async (tx) => {
          const { userId } = callerOf(request);
          const { raw, id } = await createKey(tx, userId, request.body.name);
          await audit(tx, request, { actor: userId, action: "key.create", subject: id });
          return { status: 201, body: { apiKey: raw } };
        }),
    );

    app.get(
      "/api-keys",
      { config, schema: { tags, summary: "List your keys", response: { 200: listKeysAnswer } } },
      async (request) => ({ keys: await listKeys(db, callerOf(request).userId) }),
    );

    app.delete(
      "/api-keys/:id",
      {
        config: { ...config, errors: ["forbidden"] },
        schema: {
          tags,
          summary: "Revoke a key",
          params: keyParams,
          response: { 200: revokeKeyAnswer },
        },
      },
      async (request) => {
        const { userId } = callerOf(request);
        const { id } = request.params;
        await inTransaction(db, async (tx) => {
          await revokeKey(tx, userId, id);
          await audit(tx, request, { actor: userId, action: "key.revoke", subject: id });
        });
        return { revoked: true } as const;
      },
    );
  };
}
