import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import { inTransaction } from "../db/index.ts";
import type { Pool } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { audit } from "../http/index.ts";
import { functions } from "./functions.ts";
import type { BusinessFunction } from "./functions.ts";
import { createKeyCheck, functionKeyOf } from "./key-guard.ts";

export interface BusinessDeps {
  db: Pool;
  clock: Clock;
  keys: readonly string[];
  /** Counts the call against its key, or against its address where it has none. */
  guard(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

const otherMethods = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
const headers = z.looseObject({ "x-api-key": z.string().describe("One of the functions keys") });

/** What the contract says, in its order: the method, the key, and only then the body. */
export function businessRoutes({ db, clock, keys, guard }: BusinessDeps): FastifyPluginAsync {
  const isKnown = createKeyCheck(keys);

  /** The call and the note of it commit together. */
  async function carryOut({ name, act }: BusinessFunction, request: FastifyRequest) {
    const { businessId, parentDocId } = request.body as Record<string, string | undefined>;
    const actor = `functions key ${functionKeyOf(request).slice(0, 8)}`;
    const subject = businessId ?? parentDocId ?? "";
    return await inTransaction(db, async (tx) => {
      const answer = await act(tx, request.body, clock.now());
      await audit(tx, request, { actor, action: `business.${name}`, subject });
      return answer;
    });
  }

  function serve(scope: FastifyInstance, each: BusinessFunction): void {
    const { name, status, summary, description, body, answer, errorExtras } = each;
    const url = `/${name}`;
    const config = { isGated: false, ...(errorExtras && { errorExtras }) };
    scope.post(
      url,
      {
        config: { ...config, errors: ["forbidden", "not_found", "rate_limit_exceeded"] },
        schema: {
          tags: ["Business data"],
          operationId: name,
          summary,
          ...(description !== undefined && { description }),
          headers,
          body,
          response: { [status]: answer },
        },
        onRequest: async (request, reply) => {
          const isAdmitted = isKnown(request);
          // Who has no key is counted too, so that guessing is limited.
          await guard(request, reply);
          if (!isAdmitted) throw new AppError("forbidden", "Missing or invalid x-api-key header");
        },
      },
      async (request, reply) => {
        const answer = await carryOut(each, request);
        if (answer === null) throw new AppError("not_found", "There is nothing by this id");
        return await reply.code(status).send(answer);
      },
    );
    scope.route({
      method: otherMethods,
      url,
      config: { ...config, isUndocumented: true },
      // Before its body is read or judged.
      onRequest(_request, reply, done) {
        reply.header("allow", "POST");
        done(new AppError("method_not_allowed", "Functions are called by POST"));
      },
      handler: () => undefined,
    });
  }

  return async (scope) => {
    scope.decorateRequest("functionKey", null);
    for (const each of functions) serve(scope, each);
  };
}
