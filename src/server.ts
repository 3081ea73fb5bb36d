import type { FastifyInstance } from "fastify";
import { buildApp } from "./app.ts";
import { loadConfig } from "./config.ts";
import { createDeps } from "./deps.ts";
import type { Deps } from "./deps.ts";
import { measureQueue } from "./health.ts";
import { serveMetrics } from "./http/index.ts";
import { createLog } from "./log.ts";
import { stopOnSignals } from "./signals.ts";

/** Serves the API until `close`, which answers what has arrived before it returns. */
export async function startApi(deps: Deps): Promise<FastifyInstance> {
  const { config, log, metrics } = deps;
  const app = await buildApp(deps);
  if (config.metrics.port > 0) {
    measureQueue(deps);
    const server = await serveMetrics(metrics, config.metrics.port, config.server.host);
    app.addHook("onClose", (_app, done) => {
      server.close(() => done());
    });
  }
  const address = await app.listen({ port: config.server.port, host: config.server.host });
  log.info({ address, baseUrl: config.urls.base }, "listening");
  return app;
}

if (import.meta.main) {
  const config = loadConfig(process.env);
  const log = createLog(config.log.level, "api");
  const deps = createDeps(config, log);
  const app = await startApi(deps);
  stopOnSignals(log, async () => {
    await app.close();
    await deps.close();
  });
}
