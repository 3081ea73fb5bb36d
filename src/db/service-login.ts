import { Client } from "pg";
import { serviceRole } from "./pool.ts";

const login = "herald_app";

/**
 * On a server of our own the service logs in as a member of its role and nothing more, so that no statement can lead
 * back to the owner. The server must trust local logins, as the embedded one does. Returns the address to use.
 */
export async function createServiceLogin(ownerUrl: string): Promise<string> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query(`do $$ begin
      if not exists (select from pg_roles where rolname = '${login}') then
        create role ${login} login in role ${serviceRole};
      end if;
    exception when duplicate_object or unique_violation then
      null; -- another starter made it
    end $$`);
  } finally {
    await client.end();
  }
  const url = new URL(ownerUrl);
  url.searchParams.set("user", login);
  return url.href;
}
