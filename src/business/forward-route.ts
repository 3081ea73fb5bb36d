import type { FastifyPluginAsync } from "fastify";
import { requireSignedIn } from "../auth/index.ts";
import type { Identity, SignedIn, TokenVerifier } from "../auth/index.ts";
import { AppError } from "../errors.ts";
import type { ZodTypes } from "../http/index.ts";
import type { Send } from "../outbound/index.ts";
import { forward } from "./forward.ts";
import type { Workflow } from "./forward.ts";
import { forwardAnswer, forwardBody } from "./schema.ts";

export interface ForwardDeps {
  identity: Identity;
  idTokens: TokenVerifier;
  adminUsers: ReadonlySet<string>;
  send: Send;
  /** Null where none is configured. */
  workflow: Workflow | null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks for a forward. */
    sender: SignedIn | null;
  }
}

/** Hands what a signed-in user wants done to the workflow endpoint. */
export function forwardRoute(deps: ForwardDeps): FastifyPluginAsync {
  return async (scope) => {
    scope.decorateRequest("sender", null);
    scope.withTypeProvider<ZodTypes>().post(
      "/network-webhook",
      {
        config: { errors: ["unauthorized", "forbidden", "upstream_error", "service_unavailable"] },
        schema: {
          tags: ["Business data"],
          summary: "Start the workflow",
          description:
            "For the `__session` cookie or an ID token. The body is passed on as it is, once, within 10 seconds.",
          body: forwardBody,
          response: { 200: forwardAnswer },
        },
        // Before anything of the request is judged.
        onRequest: async (request) => void (request.sender = await requireSignedIn(deps, request)),
      },
      async ({ sender, body }) => {
        if (!sender) throw new Error("the user is known by now");
        if (body.uid !== sender.userId && !deps.adminUsers.has(sender.userId))
          throw new AppError("forbidden", "The uid has to be your own");
        const status = await forward(deps.send, deps.workflow, body);
        return { success: true, status } as const;
      },
    );
  };
}
