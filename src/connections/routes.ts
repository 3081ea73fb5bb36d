import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { audit } from "../http/index.ts";
import type { ZodTypes } from "../http/index.ts";
import type { PlatformAdapter } from "../platforms/index.ts";
import { createBrowsers } from "./browser.ts";
import { confirm, receive } from "./callback.ts";
import type { Outcome, Visitor } from "./callback.ts";
import type { ConnectionDeps } from "./deps.ts";
import { sendOutcome, sendQuestion } from "./pages.ts";
import { providerOf } from "./provider.ts";
import { createReturnTo, withOutcome } from "./return-to.ts";
import { callbackQuery, confirmBody, startAnswer, startQuery } from "./schema.ts";
import { start } from "./start.ts";
import { requireSignedIn } from "../auth/index.ts";
import type { SignedIn } from "../auth/index.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks for a connection. */
    starter: SignedIn | null;
  }
}

const tags = ["Connections"];
const page = { description: "A small page", content: { "text/html": { schema: z.string() } } };
const prefersJson = /\bapplication\/json\b/i;

/** Connecting accounts, to be mounted at the root of the functions. */
export function connectionRoutes(deps: ConnectionDeps): FastifyPluginAsync {
  const { identity, registry, urls } = deps;
  const browsers = createBrowsers(urls.functions);
  const readReturnTo = createReturnTo(urls.web, deps.returnToOrigins);
  const { origin } = new URL(urls.functions);

  async function visitorOf(request: FastifyRequest, reply: FastifyReply): Promise<Visitor> {
    const user = await identity.readSession(request.headers);
    return {
      userId: user?.userId ?? null,
      browserHash: browsers.hashOf(request),
      bind: () => browsers.bind(request, reply),
      audit: (db, entry) => audit(db, request, entry),
    };
  }

  async function answer(
    reply: FastifyReply,
    adapter: PlatformAdapter,
    outcome: Outcome,
  ): Promise<void> {
    const { uid: userId, userLabel, returnTo } = outcome.pending;
    const { name: platform } = adapter;
    const provider = providerOf(platform);
    if (outcome.kind === "ask") {
      const { token } = outcome;
      const action = `${provider}AuthCallback`;
      await sendQuestion(reply, { platform, action, token, userId, userLabel, returnTo });
    } else if (returnTo === null) await sendOutcome(reply, platform, outcome.failure);
    else await reply.redirect(withOutcome(returnTo, provider, outcome.failure));
  }

  function addStart(scope: FastifyInstance, adapter: PlatformAdapter, name: string): void {
    scope.withTypeProvider<ZodTypes>().get(
      `/${name}AuthStart`,
      {
        exposeHeadRoute: false,
        config: { errors: ["unauthorized"] },
        schema: {
          tags,
          summary: `Connect a ${adapter.name} account`,
          description:
            "Sends a signed-in user (`Authorization: Bearer` with an ID token, or the `__session` cookie) to the platform.",
          querystring: startQuery,
          response: { 200: startAnswer, 302: z.void().describe("To the platform") },
        },
        // Before anything of the request is judged.
        onRequest: async (request) => void (request.starter = await requireSignedIn(deps, request)),
      },
      async (request, reply) => {
        const { starter, query } = request;
        if (!starter) throw new Error("the user is known by now");
        const returnTo = query.returnTo === undefined ? null : readReturnTo(query.returnTo);
        const browserHash = browsers.bind(request, reply);
        const url = await start(deps, adapter, { starter, returnTo, browserHash });
        if (prefersJson.test(request.headers.accept ?? "")) await reply.send({ url });
        else await reply.redirect(url);
      },
    );
  }

  function addCallback(scope: FastifyInstance, adapter: PlatformAdapter, name: string): void {
    const app = scope.withTypeProvider<ZodTypes>();
    const url = `/${name}AuthCallback`;

    app.get(
      url,
      {
        exposeHeadRoute: false,
        config: { errors: ["invalid_state", "forbidden"] },
        schema: {
          tags,
          summary: `Where ${adapter.name} sends the user back to`,
          querystring: callbackQuery,
          response: { 200: page, 302: z.void().describe("To `returnTo`, with the outcome") },
        },
      },
      async (request, reply) => {
        const { state = "", code, error } = request.query;
        const visitor = await visitorOf(request, reply);
        const outcome = await receive(deps, adapter, visitor, { state, code, error });
        await answer(reply, adapter, outcome);
      },
    );

    app.post(
      url,
      { config: { isUndocumented: true }, schema: { body: confirmBody } },
      async (request, reply) => {
        if (request.headers.origin !== origin)
          throw new AppError("forbidden", "The answer has to come from our own page");
        const { token, answer: word } = request.body;
        const visitor = await visitorOf(request, reply);
        const outcome = await confirm(deps, adapter, visitor, { token, isYes: word === "yes" });
        if (outcome) await answer(reply, adapter, outcome);
        else await sendOutcome(reply, adapter.name, "declined");
      },
    );
  }

  return async (scope) => {
    scope.decorateRequest("starter", null);
    scope.addHook(
      "onSend",
      async (_request, reply) => void reply.header("cache-control", "no-store"),
    );
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: 4_096 },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    for (const adapter of registry.all()) {
      for (const name of new Set([providerOf(adapter.name), adapter.name])) {
        addStart(scope, adapter, name);
        addCallback(scope, adapter, name);
      }
    }
  };
}
