import { hash, randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { after } from "node:test";
import { Client } from "pg";
import { pino } from "pino";
import { createPool, createServiceLogin, serviceRole } from "../../src/db/index.ts";
import type { Pool } from "../../src/db/index.ts";
import { migrateAll } from "../../src/migrate.ts";

export const quiet = pino({ level: "silent" });

export interface TestDatabase {
  /** As the service: what the code under test uses. */
  url: string;
  db: Pool;
  /** As the owner of the schema. */
  ownerUrl: string;
  owner: Pool;
}

function adminUrl(): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("TEST_DATABASE_URL is not set: run the tests with npm test");
  return url;
}

function urlOf(database: string): string {
  const url = new URL(adminUrl());
  url.pathname = `/${database}`;
  return url.href;
}

async function asAdmin<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: adminUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The migrated database that all others are copies of. Its name changes with the migrations. */
async function template(): Promise<string> {
  const folder = new URL("../../migrations/", import.meta.url);
  const texts = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(new URL(name, folder), "utf8"));
  const name = `template_${hash("sha256", texts.join("\0")).slice(0, 16)}`;
  await asAdmin(async (client) => {
    await client.query("select pg_advisory_lock(1)");
    const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rowCount === 1) return;
    await client.query(`create database ${name}_new`);
    await migrateAll(urlOf(`${name}_new`), quiet);
    await client.query(`alter database ${name}_new rename to ${name}`);
  });
  return name;
}

/** A database of the test file's own, dropped when its tests are over. */
export async function testDatabase(): Promise<TestDatabase> {
  const source = await template();
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asAdmin(async (client) => await client.query(`create database ${name} template ${source}`));
  const ownerUrl = urlOf(name);
  const url = await createServiceLogin(ownerUrl);
  const db = createPool({ url, name: "test", size: 20, role: serviceRole }, quiet);
  const owner = createPool({ url: ownerUrl, name: "test owner", size: 2 }, quiet);
  after(async () => {
    await Promise.all([db.end(), owner.end()]);
    await asAdmin(async (client) => await client.query(`drop database ${name} with (force)`));
  });
  return { url, db, ownerUrl, owner };
}
