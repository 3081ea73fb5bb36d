import type { FastifyRequest } from "fastify";
import type { Db } from "../db/index.ts";
import { addressOf } from "./request-log.ts";

export interface AuditEntry {
  actor: string;
  action: string;
  subject?: string;
  details?: Record<string, unknown>;
}

/** Adds to the append-only audit log, in the transaction of what it speaks of. Details never hold secrets. */
export async function audit(db: Db, request: FastifyRequest, entry: AuditEntry): Promise<void> {
  await db.query({
    name: "audit",
    text: `insert into audit_log (actor, action, subject, request_id, ip, details) values ($1, $2, $3, $4, $5, $6)`,
    values: [
      entry.actor,
      entry.action,
      entry.subject ?? null,
      request.id,
      addressOf(request),
      entry.details ?? {},
    ],
  });
}
