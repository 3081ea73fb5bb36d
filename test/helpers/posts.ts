import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startSandbox } from "../../sandbox/app.ts";
import { connectDemoAccount } from "../../src/demo-connection.ts";
import { sandboxSettings } from "../../src/quick-start.ts";
import { startJobs } from "../../src/worker.ts";
import { createTestUser, testApp } from "./app.ts";
import type { Settings, TestApp, TestUser } from "./app.ts";
import { freePort } from "./ports.ts";
import { newCredentials } from "./tokens.ts";
import type { Credentials } from "./tokens.ts";

export interface PostsStage extends TestApp {
  sandboxUrl: string;
  /** A subscribed user with a LinkedIn account for each member named. */
  connectedUser(...members: string[]): Promise<TestUser>;
  connectedPerson(...members: string[]): Promise<{ user: TestUser; who: Credentials }>;
  post(
    user: TestUser,
    body: object,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: PostAnswer }>;
  read(user: TestUser, id: string): Promise<Submission>;
  /** Until no run of it is on its way any more. */
  settled(user: TestUser, id: string): Promise<Submission>;
  fault(rule: Record<string, unknown>): Promise<void>;
  endFaults(): Promise<void>;
  accepted(): Promise<string[]>;
  startWorker(): Promise<{ stop(): Promise<void> }>;
}

export interface PostAnswer {
  postSubmissionId: string;
  error?: {
    code: string;
    message: string;
    details?: { field: string; message: string; code: string }[];
  };
}

export interface Submission {
  status: string;
  scheduledTime: string | null;
  content: { text?: string };
  runs: {
    targetId: string;
    status: string;
    remoteId: string | null;
    url: string | null;
    error: { code: string; message: string; attempts: number; upstreamStatus?: number } | null;
  }[];
}

export const textPost = (text: string, platform: unknown = "linkedin") => ({
  post: { content: { text, platform } },
});

/** App and sandbox in this process, over real sockets; workers only where a test starts one. */
export async function postsStage(settings: Settings = {}): Promise<PostsStage> {
  const dir = await mkdtemp(join(tmpdir(), "herald-posts-"));
  const sandbox = await startSandbox({ port: 0, host: "127.0.0.1", dataDir: dir });
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const stage = await testApp({
    ...sandboxSettings(sandbox.url),
    BASE_URL: baseUrl,
    RATE_LIMIT_SIGN_IN_MAX: "0",
    RATE_LIMIT_PREMIUM_MAX: "100000",
    ...settings,
  });
  await stage.app.listen({ port, host: "127.0.0.1" });
  after(async () => {
    await sandbox.close();
    await rm(dir, { recursive: true, force: true });
  });

  const read: PostsStage["read"] = async (user, id) =>
    (
      await stage.app.inject({ url: `/v1/posts/${id}`, headers: { "svc-api-key": user.key } })
    ).json<Submission>();

  const connectedPerson: PostsStage["connectedPerson"] = async (...members) => {
    const who = newCredentials();
    const userId = await stage.deps.identity.createUser({ ...who, name: "Ada" });
    const urls = { functionsUrl: `${baseUrl}/functions`, webUrl: baseUrl };
    for (const member of members) {
      await connectDemoAccount({
        ...urls,
        ...who,
        start: "networkAuthStart",
        consent: { decision: "allow", member },
      });
    }
    return { user: await createTestUser(stage.db, {}, userId), who };
  };

  return {
    ...stage,
    sandboxUrl: sandbox.url,
    read,
    connectedPerson,
    connectedUser: async (...members) => (await connectedPerson(...members)).user,
    async post(user, body, headers = {}) {
      const answer = await stage.app.inject({
        method: "POST",
        url: "/v1/posts",
        headers: { "svc-api-key": user.key, ...headers },
        payload: body,
      });
      return { status: answer.statusCode, body: answer.json<PostAnswer>() };
    },
    async settled(user, id) {
      for (const deadline = performance.now() + 20_000; ;) {
        const found = await read(user, id);
        const isDone =
          found.runs.length > 0 &&
          found.runs.every(({ status }) => status === "succeeded" || status === "failed");
        if (isDone) return found;
        if (performance.now() > deadline) throw new Error(`not settled: ${JSON.stringify(found)}`);
        await pause(20);
      }
    },
    async fault(rule) {
      const answer = await fetch(`${sandbox.url}/_sandbox/faults`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          service: "linkedin",
          operation: "linkedin.ugcPosts.create",
          ...rule,
        }),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async endFaults() {
      await fetch(`${sandbox.url}/_sandbox/faults`, { method: "DELETE" });
    },
    async accepted() {
      const { entries } = sandbox.journal.find({
        operation: "linkedin.ugcPosts.create",
        accepted: true,
        limit: 500,
      });
      return entries.map(
        (entry) => /"text":"([^"]+)"/.exec(String(entry.request?.body))?.[1] ?? "",
      );
    },
    startWorker: async () => await startJobs(stage.deps),
  };
}
