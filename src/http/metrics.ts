import { createServer } from "node:http";
import type { Server } from "node:http";
import type { FastifyInstance } from "fastify";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { routeOf } from "./request-log.ts";

export type Metrics = ReturnType<typeof createMetrics>;

interface Timed {
  labels: { method: string; route: string; status: number };
  seconds: number;
}

/** Times are put into the histogram many at once: one by one, between requests, it takes ten times as long. */
function createRequestTimes(registry: Registry): (time: Timed) => void {
  const atOnce = 500;
  let waiting: Timed[] = [];
  function collect(): void {
    for (const { labels, seconds } of waiting) histogram.observe(labels, seconds);
    waiting = [];
  }
  const histogram = new Histogram({
    name: "herald_request_seconds",
    help: "Time to answer a request, by route and status",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
    collect,
  });
  return (time) => {
    if (waiting.push(time) >= atOnce) collect();
  };
}

export function createMetrics() {
  const registry = new Registry();
  return {
    registry,
    timeRequest: createRequestTimes(registry),
    limiterFailures: new Counter({
      name: "herald_limiter_failures_total",
      help: "Requests that could not be counted because the limiter's store was down",
      registers: [registry],
    }),
  };
}

/** Figures that are read from elsewhere when somebody asks for them. */
export function addGauges(
  { registry }: Metrics,
  helps: Record<string, string>,
  read: () => Promise<Record<string, number>>,
): void {
  const gauges = Object.entries(helps).map(([name, help]) => ({
    name,
    gauge: new Gauge({ name, help, registers: [] }),
  }));
  // One reading serves all of them: the first that is collected fetches it.
  for (const [index, { gauge }] of gauges.entries()) {
    registry.registerMetric(gauge);
    if (index > 0) continue;
    Object.assign(gauge, {
      collect: async () => {
        const values = await read();
        for (const { name, gauge: each } of gauges) each.set(values[name] ?? Number.NaN);
      },
    });
  }
}

export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook("onResponse", (request, reply, done) => {
    metrics.timeRequest({
      labels: { method: request.method, route: routeOf(request), status: reply.statusCode },
      seconds: reply.elapsedTime / 1000,
    });
    done();
  });
}

/** Metrics are for the operator, not the public: they are served on a port of their own. */
export async function serveMetrics(metrics: Metrics, port: number, host: string): Promise<Server> {
  collectDefaultMetrics({ register: metrics.registry });
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    metrics.registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": metrics.registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return server;
}
