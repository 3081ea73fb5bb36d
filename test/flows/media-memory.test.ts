import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { startSandbox } from "../../sandbox/app.ts";
import { createTestUser, testSettings } from "../helpers/app.ts";
import { testDatabase } from "../helpers/database.ts";
import { startApiProcess } from "../helpers/processes.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const megabytes = process.env["HERALD_FULL"] === "1" ? 1_024 : 256;

async function residentMb(pid: number | undefined, field: "VmHWM" | "VmRSS"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024;
}

test(`a file of ${megabytes} MiB is fetched and served with less than 100 MB more memory`, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "herald-memory-"));
  t.after(async () => await rm(dir, { recursive: true, force: true }));
  const { url: databaseUrl, db } = await testDatabase();
  const sandbox = await startSandbox({ port: 0, host: "127.0.0.1", dataDir: join(dir, "sandbox") });
  t.after(async () => await sandbox.close());
  const api = await startApiProcess({
    ...testSettings(databaseUrl),
    DATA_DIR: join(dir, "data"),
    MEDIA_ALLOW_PRIVATE: new URL(sandbox.url).host,
  });
  t.after(async () => await api.stop());
  const user = await createTestUser(db);
  const upload = async (bytes: number) =>
    await fetch(`${api.url}/v1/media`, {
      method: "POST",
      headers: { "content-type": "application/json", "svc-api-key": user.key },
      body: JSON.stringify({ url: `${sandbox.url}/filehost/bytes/${bytes}` }),
    });
  const drain = async (id: string): Promise<number> => {
    let sizeBytes = 0;
    const answer = await fetch(`${api.url}/media/${id}`);
    for await (const chunk of answer.body ?? []) sizeBytes += chunk.length;
    return sizeBytes;
  };
  // Everything that is loaded with the first call is there before the measurement.
  const warm = (await (await upload(20 * 1_048_576)).json()) as { id: string };
  await drain(warm.id);
  const before = await residentMb(api.child.pid, "VmRSS");
  const answer = await upload(megabytes * 1_048_576);
  assert.equal(answer.status, 201, await answer.clone().text());
  const { id, size } = (await answer.json()) as { id: string; size: number };
  assert.equal(size, megabytes * 1_048_576);
  assert.equal(await drain(id), size);
  const grown = (await residentMb(api.child.pid, "VmHWM")) - before;
  t.diagnostic(
    `${megabytes} MiB: ${Math.round(grown)} MB more than the ${Math.round(before)} MB before`,
  );
  assert.ok(grown < 100, `${grown} MB`);
});
