import { buildApp } from "../src/app.ts";
import { loadConfig } from "../src/config.ts";
import type { Pool } from "../src/db/index.ts";
import { createDeps } from "../src/deps.ts";
import { createGate } from "../src/limits/index.ts";
import { createLog } from "../src/log.ts";
import { stopOnSignals } from "../src/signals.ts";
import { gateWithoutDatabase } from "./without-database.ts";

// The service as shipped (`full`), or with answers in place of the database (`none`).

const mode = process.env["BENCH_MODE"] ?? "full";
const config = loadConfig(process.env);
const log = createLog("info", `bench ${mode}`);
const shipped = createDeps(config, log);

// Answers the two statements of a submission: the accounts of users, and the acceptance of submissions.
const answersAlone = {
  query({ name, values }: { name: string; values: unknown[][] }) {
    const items = values[0] ?? [];
    const rows =
      name === "accounts_of"
        ? [...new Set(items)].map((userId) => ({
            userId,
            platform: "linkedin",
            accountId: "a",
            status: "active",
          }))
        : items.map((_, index) => ({
            item: index + 1,
            is_new: true,
            body_hash: values[5]?.[index],
            answer: values[6]?.[index],
          }));
    return Promise.resolve({ rows });
  },
} as unknown as Pool;

const gate = createGate({
  store: gateWithoutDatabase,
  limits: config.limits,
  log,
  countFailure: () => undefined,
});
const app = await buildApp(mode === "none" ? { ...shipped, db: answersAlone, gate } : shipped);
log.info(
  { address: await app.listen({ port: config.server.port, host: "127.0.0.1" }) },
  "listening",
);
stopOnSignals(log, async () => {
  await app.close();
  await shipped.close();
});
