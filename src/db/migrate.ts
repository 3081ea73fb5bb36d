import { readFile, readdir } from "node:fs/promises";
import { Client } from "pg";
import type { Logger } from "pino";

const folder = new URL("../../migrations/", import.meta.url);
const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;
// Any number that no other program on the same database is likely to choose.
const lockId = 4_840_117_203;

interface Migration {
  version: number;
  name: string;
  sql: string;
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => fileName.test(name)).sort();
  return await Promise.all(
    names.map(async (name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: await readFile(new URL(name, folder), "utf8"),
    })),
  );
}

/** The version the code expects the database to be at. */
export async function expectedVersion(): Promise<number> {
  return (await readMigrations()).at(-1)?.version ?? 0;
}

/**
 * Brings the database to the version of this code. Two starters at once: the second waits, then finds nothing to do.
 * Each migration and its record commit together, so a kill leaves the database between two versions, never inside one.
 */
export async function migrate(
  url: string,
  log: Logger,
  after?: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ connectionString: url, application_name: "herald migrate" });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [lockId]);
    await client.query(
      "create table if not exists schema_migrations (version int primary key, name text not null, applied_at timestamptz not null default now())",
    );
    const { rows } = await client.query<{ version: number }>(
      "select version from schema_migrations",
    );
    const applied = new Set(rows.map((row) => row.version));
    for (const migration of await readMigrations()) {
      if (!applied.has(migration.version)) await apply(client, migration, log);
    }
    await after?.(client);
  } finally {
    await client.end();
  }
}

async function apply(client: Client, migration: Migration, log: Logger): Promise<void> {
  await client.query("begin");
  try {
    await client.query(migration.sql);
    await client.query("insert into schema_migrations (version, name) values ($1, $2)", [
      migration.version,
      migration.name,
    ]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw new Error(`migration ${migration.name} failed`, { cause: error });
  }
  log.info({ migration: migration.name }, "migrated");
}
