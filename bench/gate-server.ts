import { z } from "zod";
import { buildApp } from "../src/app.ts";
import { loadConfig } from "../src/config.ts";
import { createDeps } from "../src/deps.ts";
import { createGate, createPostgresStore } from "../src/limits/index.ts";
import type { GateStore } from "../src/limits/index.ts";
import { createLog } from "../src/log.ts";
import { stopOnSignals } from "../src/signals.ts";
import { gateWithoutDatabase } from "./without-database.ts";

// The service with one more route, behind one of three gates: `batched` (as shipped), `single` (one query per request)
// and `none` (the same answers without a database).

const mode = process.env["BENCH_GATE"] ?? "batched";
const config = loadConfig(process.env);
const log = createLog("info", `bench ${mode}`);
const shipped = createDeps(config, log);

const single = createPostgresStore(shipped.db, config.limits, {
  maxItems: 1,
  maxInFlight: Number.MAX_SAFE_INTEGER,
});
const stores: Record<string, GateStore> = { none: gateWithoutDatabase, single };
const store = stores[mode];
const gate = store
  ? createGate({ store, limits: config.limits, log, countFailure: () => undefined })
  : shipped.gate;

const app = await buildApp({ ...shipped, gate });
app.post(
  "/v1/bench",
  {
    config: { credential: "apiKey", limitPerMinute: 30 },
    schema: {
      body: z.strictObject({
        text: z.string().max(3_000),
        platforms: z.array(z.string()),
        draft: z.boolean(),
      }),
    },
  },
  () => ({ ok: true }),
);
log.info(
  { address: await app.listen({ port: config.server.port, host: "127.0.0.1" }) },
  "listening",
);
stopOnSignals(log, async () => {
  await app.close();
  await shipped.close();
});
