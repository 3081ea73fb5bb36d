import { runMigrations } from "graphile-worker";
import type { Client } from "pg";
import { poolOf } from "./patient-pool.ts";

export const schema = "graphile_worker";

// Run after every migration of the library, as new tables may have come. The service may use what is in the schema
// and change nothing of it; the library turns row security on, so a role that is not the owner needs policies.
const rights = `
  grant usage on schema graphile_worker to herald_service;
  grant select, insert, update, delete on all tables in schema graphile_worker to herald_service;
  revoke insert, update, delete on graphile_worker.migrations from herald_service;
  grant usage on all sequences in schema graphile_worker to herald_service;
  grant execute on all functions in schema graphile_worker to herald_service;
  do $$
  declare
    secured regclass;
  begin
    for secured in
      select c.oid from pg_class c
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' and c.relrowsecurity
        and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'herald_service')
    loop
      execute format('create policy herald_service on %s to herald_service using (true) with check (true)', secured);
    end loop;
  end
  $$`;

// Both are small: what is locked now, and what is dead. With the trigger below they cost empty jobs 3 % at most.
const indexes = `
  create index if not exists jobs_by_lock on graphile_worker._private_jobs (locked_by) where locked_by is not null;
  create index if not exists jobs_dead on graphile_worker._private_jobs (id)
    where attempts >= max_attempts and locked_at is null`;

// The library retries after exp(attempts) seconds sharp, so jobs that failed together come back together. Here, as a
// job is unlocked: one whose time lies ahead already, which no job that was due can have, was told when to return
// (see run-job.ts) and keeps that; any other pause becomes 0.5 to 1.5 times as long.
const backoff = `
  create or replace function graphile_worker.herald_backoff() returns trigger language plpgsql as $$
  begin
    new.run_at := case when old.run_at > now() then old.run_at
                  else now() + (new.run_at - now()) * (0.5 + random()) end;
    return new;
  end
  $$;
  create or replace trigger herald_backoff before update on graphile_worker._private_jobs for each row
    when (old.locked_at is not null and new.locked_at is null and new.run_at > now())
    execute function graphile_worker.herald_backoff()`;

/** Brings the queue's schema to the library's version, as its owner. The service itself needs no such right. */
export async function migrateJobs(client: Client): Promise<void> {
  await runMigrations({
    pgPool: poolOf((statement, values) => client.query(statement, values)),
    schema,
  });
  await client.query("begin");
  try {
    for (const statements of [rights, indexes, backoff]) await client.query(statements);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw new Error("the job queue could not be prepared", { cause: error });
  }
}
