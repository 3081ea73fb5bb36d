import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestUser, testSettings } from "../helpers/app.ts";
import { testDatabase } from "../helpers/database.ts";
import { startApiProcess } from "../helpers/processes.ts";

// HERALD_FULL=1 is the full form.
const restarts = process.env["HERALD_FULL"] ? 100 : 5;
const clients = 16;

test(`${restarts} times SIGTERM under load behind a load balancer: no request fails`, async (t) => {
  const { url, db } = await testDatabase();
  const settings = {
    ...testSettings(url),
    SHUTDOWN_DRAIN_MS: "500",
    RATE_LIMIT_PREMIUM_MAX: "10000000",
  };
  const { key } = await createTestUser(db);
  let answered = 0;
  for (let count = 0; count < restarts; count++) {
    const api = await startApiProcess(settings);
    const failures: string[] = [];
    let isReady = true;
    const balancer = async (): Promise<void> => {
      while (isReady) isReady = (await fetch(`${api.url}/readyz`)).status === 200;
    };
    const client = async (): Promise<void> => {
      while (isReady) {
        try {
          const answer = await fetch(`${api.url}/v1/me`, { headers: { "svc-api-key": key } });
          await answer.arrayBuffer();
          if (answer.status !== 200) failures.push(String(answer.status));
          answered += 1;
        } catch (error) {
          failures.push(String((error as { cause?: unknown }).cause));
        }
      }
    };
    const load = Promise.all([balancer(), ...Array.from({ length: clients }, client)]);
    const enough = answered + 100;
    while (answered < enough) await new Promise(setImmediate);
    await api.stop();
    await load;
    assert.deepEqual(failures, []);
    assert.equal(api.child.exitCode, 0);
  }
  t.diagnostic(`${answered} requests answered`);
});
