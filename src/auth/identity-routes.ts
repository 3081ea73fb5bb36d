import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Db } from "../db/index.ts";
import { AppError } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import { addressOf, audit } from "../http/index.ts";
import { clientIpHeader } from "./identity-options.ts";
import type { Identity } from "./identity.ts";

export interface IdentityRoutesDeps {
  db: Db;
  identity: Identity;
  /** Counts the tries at what a password opens; runs before the body is read. */
  guard: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

const user = z.object({ id: z.string(), email: z.email(), name: z.string() });
const signedIn = z.object({ user });
const done = z.object({ success: z.literal(true) });
const token = z.object({ token: z.string() });
const keySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });
const never = z
  .object({ status: z.literal(true) })
  .describe("Not before mail is sent: 400 until then");

// All of Better Auth that is offered. No mail is sent yet, so of resets and verifications only the door is here: it
// answers that the feature is not enabled.
const routes = [
  [
    "POST",
    "/sign-up/email",
    signedIn,
    "Sign up",
    "`name`, `email`, `password` (10 to 128 characters)",
  ],
  ["POST", "/sign-in/email", signedIn, "Sign in", "`email`, `password`, optionally `rememberMe`"],
  ["POST", "/sign-out", done, "Sign out", "Ends the session."],
  ["POST", "/change-password", signedIn, "Change the password", "`currentPassword`, `newPassword`"],
  ["POST", "/request-password-reset", never, "Ask for a reset link", "`email`"],
  ["POST", "/send-verification-email", never, "Ask for a verification link", "`email`"],
  [
    "GET",
    "/get-session",
    signedIn.nullable(),
    "Who is signed in",
    "The session of the `__session` cookie.",
  ],
  ["GET", "/token", token, "Get an ID token", "The ID token of the session, good for 15 minutes."],
  [
    "GET",
    "/jwks",
    keySet,
    "Keys of ID tokens",
    "What an ID token of this service is verified with.",
  ],
] as const;
const guarded = new Set<string>(["/sign-up/email", "/sign-in/email", "/change-password"]);

// What Better Auth needs to know of a request: the session, and where the request comes from.
const passedOn = [
  "cookie",
  "origin",
  "referer",
  "sec-fetch-site",
  "sec-fetch-mode",
  "sec-fetch-dest",
  "user-agent",
] as const;

function toWebRequest(request: FastifyRequest, method: "GET" | "POST"): RequestInit {
  const headers = new Headers({ [clientIpHeader]: addressOf(request) });
  for (const name of passedOn) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  if (method === "GET") return { headers };
  headers.set("content-type", "application/json");
  return { method, headers, body: JSON.stringify(request.body ?? {}) };
}

const codeOfStatus: Record<number, ErrorCode> = {
  400: "validation_error",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  422: "validation_error",
};

/** Better Auth's refusals in the contract's shape; its own word for the reason goes into the details. */
function refusal(status: number, body: string): Error {
  const code = codeOfStatus[status];
  if (!code) return new Error(`Better Auth answered ${status}: ${body.slice(0, 500)}`);
  const { message, code: reason } = JSON.parse(body || "{}") as { message?: string; code?: string };
  return new AppError(
    code,
    message ?? "The request was refused",
    reason ? { details: { reason } } : {},
  );
}

async function answer(reply: FastifyReply, response: Response): Promise<string> {
  const body = await response.text();
  if (response.status >= 400) throw refusal(response.status, body);
  for (const [name, value] of response.headers) reply.header(name, value);
  reply.code(response.status).header("cache-control", "no-store");
  return body;
}

/** Who the answer is about: the user it names, or nobody. */
function userOf(body: string): string {
  const { user } = (JSON.parse(body) ?? {}) as { user?: { id?: string } };
  return user?.id ?? "unknown";
}

/** The identity provider's routes, to be mounted at `/api/auth` of the web root. */
export function identityRoutes({ db, identity, guard }: IdentityRoutesDeps): FastifyPluginAsync {
  return async (app) => {
    for (const [method, path, response, summary, description] of routes) {
      app.route({
        method,
        url: path,
        schema: { tags: ["Identity"], summary, description, response: { 200: response } },
        config: { isGated: false, errors: ["unauthorized", "forbidden"] },
        ...(guarded.has(path) ? { onRequest: guard } : {}),
        handler: async (request, reply) => {
          const action = `identity${path.replaceAll("/", ".")}`;
          try {
            const body = await answer(
              reply,
              await identity.handle(path, toWebRequest(request, method)),
            );
            if (guarded.has(path)) await audit(db, request, { actor: userOf(body), action });
            return body;
          } catch (error) {
            if (guarded.has(path) && error instanceof AppError)
              await audit(db, request, { actor: "unknown", action: `${action}.refused` });
            throw error;
          }
        },
      });
    }
  };
}
