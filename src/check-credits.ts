import { checkCredits } from "./billing/index.ts";
import { loadConfig } from "./config.ts";
import { createPool, serviceRole } from "./db/index.ts";
import { createLog } from "./log.ts";

// npm run credits:check: one line per difference between a ledger and its balances, and exit code 1 if there is any.
const { database, log } = loadConfig(process.env);
const pool = { url: database.url, name: "herald credits check", size: 1, role: serviceRole };
const db = createPool({ ...pool, statementTimeoutMs: 60_000 }, createLog(log.level, "credits"));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
try {
  const { users, entries, differences } = await checkCredits(
    db,
    ({ userId, entryId, expected, found }) =>
      say(
        `${userId}: ${entryId ? `after entry ${entryId}` : "balance"} ${found}, but its entries add up to ${expected}`,
      ),
  );
  say(`${entries} entries of ${users} users: ${differences} differences`);
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  await db.end();
}
