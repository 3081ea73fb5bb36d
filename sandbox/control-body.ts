import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { send } from "./answer.ts";
import { parseJson } from "./call.ts";

export interface Issue {
  field: string;
  message: string;
}

export async function refuse(reply: FastifyReply, error: string, issues: Issue[]): Promise<void> {
  await send(reply, { status: 400, body: { error, issues } });
}

export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map(({ path, message }) => ({ field: path.join("."), message }));
}

/** What a control call was given; undefined after a 400 that names every bad field. */
export async function controlBody<T>(
  shape: z.ZodType<T>,
  what: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<T | undefined> {
  const body = request.body instanceof Buffer ? parseJson(request.body) : undefined;
  if (body === undefined) {
    await refuse(reply, "the body is not JSON", []);
    return undefined;
  }
  const parsed = shape.safeParse(body);
  if (!parsed.success) await refuse(reply, `invalid ${what}`, issuesOf(parsed.error));
  return parsed.data;
}
