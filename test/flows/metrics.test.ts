import assert from "node:assert/strict";
import { test } from "node:test";
import { testSettings } from "../helpers/app.ts";
import { testDatabase } from "../helpers/database.ts";
import { freePort } from "../helpers/ports.ts";
import { startApiProcess } from "../helpers/processes.ts";

test("metrics are served on a port of their own, and nowhere else", async () => {
  const { url } = await testDatabase();
  const port = await freePort();
  const api = await startApiProcess({ ...testSettings(url), METRICS_PORT: String(port) });
  try {
    await fetch(`${api.url}/livez`);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const name of [
      "herald_request_seconds_count",
      "herald_limiter_failures_total",
      "herald_jobs_due",
      "herald_jobs_dead",
      "herald_workers",
      "process_resident_memory_bytes",
    ]) {
      assert.ok(metrics.includes(name), name);
    }
    assert.match(
      metrics,
      /herald_request_seconds_count\{method="GET",route="\/livez",status="200"\} 1/,
    );
    assert.equal((await fetch(`${api.url}/metrics`)).status, 404);
  } finally {
    await api.stop();
  }
});
