import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { createTestUser } from "./app.ts";
import type { TestUser } from "./app.ts";
import { mediaStage } from "./media.ts";

export interface Answer {
  url: string;
  id: string;
  error?: { code: string; details?: { field: string; code: string; message: string }[] };
}

export interface Request {
  path?: string;
  user?: TestUser;
  headers?: Record<string, string>;
}

export const quote = (config: object = {}, rest: object = {}) => ({
  templateSlug: "quote",
  config: { quote: "Well begun is half done.", ...config },
  ...rest,
});

/** App and file host, and what the tests of templates ask them. */
export async function templatesScene() {
  const stage = await mediaStage({ MEDIA_DOWNLOAD_SECONDS: "2" });
  const { app, db } = stage;

  /** Each as another user, unless told: the limit of 20 a minute is not the question here. */
  async function render(payload: object, request: Request = {}) {
    const { key } = request.user ?? (await createTestUser(db));
    const answer = await app.inject({
      method: "POST",
      url: request.path ?? "/v1/templates",
      headers: { "svc-api-key": key, ...request.headers },
      payload,
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<Answer>() };
  }

  async function bytesOf(id: string): Promise<Buffer> {
    const answer = await app.inject({ url: `/media/${id}.png` });
    assert.equal(answer.statusCode, 200);
    return answer.rawPayload;
  }

  /** Nothing but whole media with a record, and none of this user's. */
  async function assertNothingStored(owner: TestUser): Promise<void> {
    const { rowCount } = await db.query("select from media where user_id = $1", [owner.userId]);
    assert.equal(rowCount, 0);
    assert.deepEqual(await stage.leftovers(), []);
    const received = await readdir(stage.config.media.incomingDir).catch(() => []);
    assert.deepEqual(received, []);
  }

  return { ...stage, render, bytesOf, assertNothingStored };
}
