import type { Db } from "../db/index.ts";
import { maxFreeBytes } from "./free-form.ts";
import type { Company, CompanyBody, Participant } from "./schema.ts";

interface CompanyRow {
  id: string;
  name: string | null;
  url: string | null;
  description: string | null;
  details: Record<string, unknown> | null;
  created_at: Date;
  updated_at: Date;
}

interface ParticipantRow {
  business_id: string;
  id: string;
  persona: Record<string, unknown>;
  created_at: Date;
  updated_at: Date;
}

const toCompany = (row: CompanyRow): Company => ({
  businessId: row.id,
  name: row.name,
  url: row.url,
  description: row.description,
  details: row.details,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

const toParticipant = (row: ParticipantRow): Participant => ({
  role: null,
  themes: [],
  values: [],
  personality: [],
  writingTechniques: [],
  ...row.persona,
  id: row.id,
  businessId: row.business_id,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** Before anything is written below it. True where it is new. */
export async function ensureBusiness(db: Db, businessId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "ensure_business",
    text: "insert into businesses (id) values ($1) on conflict do nothing",
    values: [businessId],
  });
  return rowCount === 1;
}

export async function findCompany(db: Db, businessId: string): Promise<Company | null> {
  const { rows } = await db.query<CompanyRow>({
    name: "find_company",
    text: "select * from businesses where id = $1",
    values: [businessId],
  });
  return rows[0] ? toCompany(rows[0]) : null;
}

/** What is left out stays as it is. */
export async function saveCompany(db: Db, company: CompanyBody): Promise<Company | null> {
  const { businessId, name, url, description, details } = company;
  const { rows } = await db.query<CompanyRow>({
    name: "save_company",
    text: `insert into businesses as b (id, name, url, description, details) values ($1, $2, $3, $4, $5)
           on conflict (id) do update set name = coalesce(excluded.name, b.name), url = coalesce(excluded.url, b.url),
             description = coalesce(excluded.description, b.description), details = coalesce(excluded.details, b.details),
             updated_at = clock_timestamp()
           returning *`,
    values: [businessId, name, url, description, details && JSON.stringify(details)],
  });
  return rows[0] ? toCompany(rows[0]) : null;
}

export async function listParticipants(db: Db, businessId: string): Promise<Participant[]> {
  const { rows } = await db.query<ParticipantRow>({
    name: "list_participants",
    text: "select * from participants where business_id = $1 order by created_at, id",
    values: [businessId],
  });
  return rows.map(toParticipant);
}

/** One statement, so that updates of one moment all count. Null: the persona would become too large. */
export async function appendToPersona(
  db: Db,
  businessId: string,
  participantId: string,
  updates: object,
): Promise<Participant | null> {
  const { rows } = await db.query<ParticipantRow>({
    name: "append_to_persona",
    text: `insert into participants as p (business_id, id, persona) values ($1, $2, $3)
           on conflict (business_id, id) do update
             set persona = merge_persona(p.persona, excluded.persona), updated_at = clock_timestamp()
             where octet_length(merge_persona(p.persona, excluded.persona)::text) <= $4
           returning *`,
    values: [businessId, participantId, JSON.stringify(updates), maxFreeBytes],
  });
  return rows[0] ? toParticipant(rows[0]) : null;
}

/** The same, with lists replaced like everything else. */
export async function saveParticipant(
  db: Db,
  businessId: string,
  participantId: string,
  updates: object,
): Promise<Participant | null> {
  const { rows } = await db.query<ParticipantRow>({
    name: "save_participant",
    text: `insert into participants as p (business_id, id, persona) values ($1, $2, $3)
           on conflict (business_id, id) do update
             set persona = p.persona || excluded.persona, updated_at = clock_timestamp()
             where octet_length((p.persona || excluded.persona)::text) <= $4
           returning *`,
    values: [businessId, participantId, JSON.stringify(updates), maxFreeBytes],
  });
  return rows[0] ? toParticipant(rows[0]) : null;
}
