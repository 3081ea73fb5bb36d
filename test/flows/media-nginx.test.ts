import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { mediaStage } from "../helpers/media.ts";
import { nginxIsMissing, startNginx } from "../helpers/nginx.ts";

test(
  "behind nginx with docs/nginx.conf the files are sent by nginx, with our headers",
  { skip: nginxIsMissing },
  async (t) => {
    const dir = await mkdtemp(join(tmpdir(), "herald-nginx-"));
    await chmod(dir, 0o755);
    t.after(async () => await rm(dir, { recursive: true, force: true }));
    const dataDir = join(dir, "data");
    const stage = await mediaStage({ DATA_DIR: dataDir, MEDIA_DELIVERY: "accel" });
    const nginx = await startNginx(dir, dataDir, new URL(stage.url).port);
    t.after(nginx.stop);

    const bytes = randomBytes(3_000_000);
    const id = await stage.put(bytes, nginx.front);

    const ours = await fetch(`${stage.url}/media/${id}`);
    const written = [
      "cross-origin-resource-policy",
      "content-security-policy",
      "x-content-type-options",
    ];

    // Twice: from the file, and from nginx's cache.
    for (let round = 0; round < 2; round++) {
      const whole = await fetch(`${nginx.front}/media/${id}.bin`);
      assert.equal(whole.status, 200);
      assert.ok(Buffer.from(await whole.arrayBuffer()).equals(bytes));
      assert.equal(whole.headers.get("content-type"), "application/octet-stream");
      assert.equal(whole.headers.get("cache-control"), "public, max-age=3600");
      assert.equal(whole.headers.get("content-disposition"), "attachment");
      for (const name of written)
        assert.equal(whole.headers.get(name), ours.headers.get(name), name);
      assert.equal(whole.headers.get("x-accel-redirect"), null);
      const range = { range: "bytes=1000000-1999999" };
      const part = await fetch(`${nginx.front}/media/${id}`, { headers: range });
      assert.equal(part.status, 206);
      assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1_000_000, 2_000_000)));
      const beyond = await fetch(`${nginx.front}/media/${id}`, {
        headers: { range: "bytes=3000000-" },
      });
      assert.equal(beyond.status, 416);
      await beyond.arrayBuffer();
    }
    const missing = await fetch(`${nginx.front}/media/unknown0unknown0`);
    assert.deepEqual(
      [missing.status, ((await missing.json()) as { error: { code: string } }).error.code],
      [404, "not_found"],
    );
    assert.equal(missing.headers.get("x-content-type-options"), "nosniff");
    assert.equal(
      (await fetch(`${nginx.front}/media/${id}`, { method: "HEAD" })).headers.get("content-length"),
      "3000000",
    );
    assert.equal((await fetch(`${nginx.front}/_media/x`)).status, 404);
    assert.equal((await fetch(`${nginx.front}/livez`)).status, 200);
  },
);
