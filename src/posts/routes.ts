import { hash } from "node:crypto";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { Clock } from "../clock.ts";
import { batched, isForeignKeyViolation, isUnavailable } from "../db/index.ts";
import type { Pool } from "../db/index.ts";
import { AppError } from "../errors.ts";
import { bodyTextOf, callerOf, endpointOf, idempotencyKeyOf } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import { findOwnMedia } from "../media/index.ts";
import type { Registry } from "../platforms/index.ts";
import type { Sealer } from "../sealing.ts";
import { cancelPost, changePost, retryPost } from "./change.ts";
import { acceptMany, findSubmission, listSubmissions, recallAcceptance } from "./queries.ts";
import { breaksRules } from "./rules.ts";
import * as shapes from "./schema.ts";
import { examine, submit } from "./submit.ts";
import type { IdempotencyFacts, SubmitDeps } from "./submit.ts";
import type { KnownAccount } from "./targets.ts";

export interface PostsDeps {
  db: Pool;
  clock: Clock;
  sealer: Sealer;
  registry: Registry;
  accountsOf(db: Pool, userIds: string[]): Promise<readonly (readonly KnownAccount[])[]>;
}

const tags = ["Posts"];
const config = { credential: "apiKey" } as const;

function idempotencyOf(request: FastifyRequest): IdempotencyFacts {
  return {
    endpoint: endpointOf(request),
    keyHash: hash("sha256", idempotencyKeyOf(request)),
    bodyHash: hash("sha256", bodyTextOf(request)),
  };
}

/** What fails although the caller did nothing wrong has a code of its own here. */
function creationFailure(error: unknown): unknown {
  // It was there a moment ago, when the post was examined.
  if (isForeignKeyViolation(error, "media_needs_media_id_fkey"))
    return new AppError("validation_error", "A file of the post was just deleted", {
      cause: error,
    });
  if (error instanceof AppError || isUnavailable(error)) return error;
  return new AppError("post_creation_failed", "The post could not be created", { cause: error });
}

export function postRoutes({
  db,
  clock,
  sealer,
  registry,
  accountsOf,
}: PostsDeps): FastifyPluginAsync {
  const deps: SubmitDeps = {
    clock,
    sealer,
    registry,
    accountsOf: batched(async (userIds: string[]) => [...(await accountsOf(db, userIds))]),
    accept: batched(async (submissions) => await acceptMany(db, submissions)),
    mediaOf: async (userId, ids) => await findOwnMedia(db, userId, ids),
    recall: async (userId, facts) => await recallAcceptance(db, userId, facts),
  };
  return async (scope) => {
    const app = scope.withTypeProvider<ZodTypes>();

    app.post(
      "/posts",
      {
        config: {
          ...config,
          limitPerMinute: 30,
          errors: ["missing_integrations", "post_creation_failed"],
        },
        schema: {
          tags,
          summary: "Publish or schedule a post",
          body: shapes.submitBody,
          response: { 201: shapes.submitAnswer },
        },
      },
      async (request, reply) => {
        try {
          const { postSubmissionId, isRepeat } = await submit(
            deps,
            callerOf(request),
            request.body,
            idempotencyOf(request),
          );
          if (isRepeat) reply.header("idempotency-replayed", "true");
          return await reply.code(201).send({ postSubmissionId });
        } catch (error) {
          throw creationFailure(error);
        }
      },
    );

    app.post(
      "/posts/validate",
      {
        config,
        schema: {
          tags,
          summary: "Check a post without publishing it",
          body: shapes.submitBody,
          response: { 200: shapes.validateAnswer },
        },
      },
      async (request) => {
        const { invalid, missing } = await examine(deps, callerOf(request).userId, request.body);
        const problems = [...invalid, ...missing];
        return { valid: problems.length === 0, problems };
      },
    );

    app.get(
      "/posts",
      {
        config,
        schema: {
          tags,
          summary: "List your posts",
          querystring: shapes.listQuery,
          response: { 200: shapes.listAnswer },
        },
      },
      async (request) => {
        const { platform, ...filter } = request.query;
        const known = platform === undefined ? undefined : (registry.resolve(platform) ?? "none");
        return await listSubmissions(db, callerOf(request).userId, { ...filter, platform: known });
      },
    );

    app.get(
      "/posts/:id",
      {
        config,
        schema: {
          tags,
          summary: "A post with its runs",
          params: shapes.postParams,
          response: { 200: shapes.submission },
        },
      },
      async (request) => {
        const found = await findSubmission(db, callerOf(request).userId, request.params.id);
        if (!found) throw new AppError("not_found", "There is no such post");
        return found;
      },
    );

    app.delete(
      "/posts/:id",
      {
        config,
        schema: {
          tags,
          summary: "Cancel a post that waits",
          params: shapes.postParams,
          response: { 200: shapes.canceledAnswer },
        },
      },
      async (request) => {
        await cancelPost(db, callerOf(request).userId, request.params.id);
        return { canceled: true } as const;
      },
    );

    app.patch(
      "/posts/:id",
      {
        config,
        schema: {
          tags,
          summary: "Give a post that waits a new time or text",
          params: shapes.postParams,
          body: shapes.changeBody,
          response: { 200: shapes.submission },
        },
      },
      async (request) => {
        const { userId } = callerOf(request);
        const before = await findSubmission(db, userId, request.params.id);
        const check = async (content: Record<string, unknown>): Promise<void> => {
          const details = breaksRules(content as shapes.Content, before?.targets ?? [], registry);
          if (details.length > 0)
            throw new AppError("validation_error", "The request is not valid", { details });
        };
        await changePost({ db, clock, check }, userId, request.params.id, request.body);
        const found = await findSubmission(db, userId, request.params.id);
        if (!found) throw new AppError("not_found", "There is no such post");
        return found;
      },
    );

    app.post(
      "/posts/:id/retry",
      {
        config,
        schema: {
          tags,
          summary: "Try failed targets again",
          params: shapes.postParams,
          response: { 200: shapes.retryAnswer },
        },
      },
      async (request) => ({
        retried: await retryPost(db, callerOf(request).userId, request.params.id),
      }),
    );
  };
}
