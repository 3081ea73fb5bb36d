import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { startSandbox } from "../../sandbox/app.ts";
import { createTestUser, testApp } from "./app.ts";
import type { Settings, TestApp, TestUser } from "./app.ts";

export interface MediaAnswer {
  url: string;
  id: string;
  contentType: string;
  size: number;
  error?: { code: string; message: string; requestId?: string; details?: { code: string }[] };
}

export interface MediaStage extends TestApp {
  /** The app, over a real socket. */
  url: string;
  /** Where the sandbox's file host is. */
  files: string;
  user: TestUser;
  upload(
    url: string,
    headers?: Record<string, string>,
    user?: TestUser,
  ): Promise<{ status: number; body: MediaAnswer }>;
  sandboxUrl: string;
  /** Sends bytes to an upload address, through `front` where something stands before the app. Returns the id. */
  put(bytes: Buffer, front?: string): Promise<string>;
  /** What is there besides whole media with a record: rows, objects below the data folder, received files. */
  leftovers(): Promise<string[]>;
}

/** App, file host and speech provider in this process, over real sockets. */
export async function mediaStage(settings: Settings = {}): Promise<MediaStage> {
  const dir = await mkdtemp(join(tmpdir(), "herald-media-"));
  const sandbox = await startSandbox({ port: 0, host: "127.0.0.1", dataDir: dir });
  const stage = await testApp({
    MEDIA_ALLOW_PRIVATE: new URL(sandbox.url).host,
    RATE_LIMIT_PREMIUM_MAX: "100000",
    RATE_LIMIT_MEDIA_MAX: "0",
    SPEECH_API_URL: `${sandbox.url}/speech/v1`,
    SPEECH_API_KEY: "sandbox-speech-key",
    ...settings,
  });
  const url = await stage.app.listen({ port: 0, host: "127.0.0.1" });
  after(async () => {
    await sandbox.close();
    await rm(dir, { recursive: true, force: true });
  });
  const user = await createTestUser(stage.db);
  return {
    ...stage,
    url,
    sandboxUrl: sandbox.url,
    files: `${sandbox.url}/filehost`,
    user,
    // Each as another user, unless told: the limit of 30 a minute is not the question here.
    async upload(address, headers = {}, who) {
      const { key } = who ?? (await createTestUser(stage.db));
      const answer = await fetch(`${url}/v1/media`, {
        method: "POST",
        headers: { "content-type": "application/json", "svc-api-key": key, ...headers },
        body: JSON.stringify({ url: address }),
      });
      return { status: answer.status, body: (await answer.json()) as MediaAnswer };
    },
    async put(bytes, front = url) {
      const headers = { "svc-api-key": user.key };
      const slot = await fetch(`${url}/v1/media/uploads`, { method: "POST", headers });
      const { uploadUrl } = (await slot.json()) as { uploadUrl: string };
      const to = uploadUrl.replace(stage.config.urls.base, front);
      const answer = await fetch(to, { method: "PUT", body: bytes });
      assert.equal(answer.status, 201, await answer.clone().text());
      return ((await answer.json()) as { id: string }).id;
    },
    async leftovers() {
      const { rows } = await stage.db.query<{ id: string; object_path: string; stored: boolean }>(
        "select id, object_path, stored_at is not null as stored from media",
      );
      const known = rows.filter(({ stored }) => stored).map(({ object_path }) => object_path);
      const entries = await readdir(join(stage.config.dataDir, "media"), {
        recursive: true,
        withFileTypes: true,
      }).catch(() => []);
      const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
      return [
        ...rows.filter(({ stored }) => !stored).map(({ id }) => `row ${id}`),
        ...files.filter((name) => !known.some((path) => path.endsWith(name.split(".")[0] ?? ""))),
      ];
    },
  };
}
