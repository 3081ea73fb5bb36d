import type { Pool } from "../../src/db/index.ts";

/** What every table holds: the number of its rows and a sum over their contents, so that a change shows as well. */
export type Traces = Record<string, string>;

interface TableRow {
  schema: string;
  name: string;
}

// Counting a refused call is what the limiter is for, so its table is none of the traces that a call may not leave.
const tables = `
  select nspname as schema, relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relkind = 'r' and nspname in ('public', 'graphile_worker') and relname <> 'rate_limit_windows'`;

/** Looks at all tables of the service and of its queue, those that come later included. */
export async function watchTraces(owner: Pool): Promise<() => Promise<Traces>> {
  const { rows } = await owner.query<TableRow>(tables);
  const looks = rows.map(({ schema, name }) => {
    const contents = "coalesce(sum(hashtextextended(t::text, 0)), 0)";
    return `select '${name}' as name, count(*) || ' ' || ${contents} as state from ${schema}.${name} t`;
  });
  const look = { name: "traces", text: looks.join(" union all ") };
  return async () => {
    const found = await owner.query<{ name: string; state: string }>(look);
    return Object.fromEntries(found.rows.map(({ name, state }) => [name, state]));
  };
}

/** The tables that differ. */
export function changedTables(before: Traces, after: Traces): string[] {
  return Object.keys(after)
    .filter((name) => before[name] !== after[name])
    .sort();
}
