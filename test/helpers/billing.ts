import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startSandbox } from "../../sandbox/app.ts";
import { sandboxSettings } from "../../src/quick-start.ts";
import { testApp } from "./app.ts";
import type { Settings, TestApp } from "./app.ts";
import { freePort } from "./ports.ts";
import { newCredentials } from "./tokens.ts";

export interface Payer {
  userId: string;
  token: string;
  cookie: string;
}

export interface BillingStage extends TestApp {
  url: string;
  sandboxUrl: string;
  signUp(): Promise<Payer>;
  /** As the web app calls: JSON with an ID token. */
  call(
    payer: Payer,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  /** From the checkout's beginning to its end at the provider. */
  checkout(payer: Payer, planId: string, card?: string): Promise<string>;
  control(path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Moves the provider's clock, and waits until it has told everything. */
  forward(days: number): Promise<void>;
  delivered(): Promise<void>;
}

/** App and payment provider in this process, over real sockets; the provider sends its events. */
export async function billingStage(settings: Settings = {}): Promise<BillingStage> {
  const dir = await mkdtemp(join(tmpdir(), "herald-billing-"));
  const sandbox = await startSandbox({ port: 0, host: "127.0.0.1", dataDir: dir });
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const stage = await testApp({
    ...sandboxSettings(sandbox.url),
    BASE_URL: url,
    RATE_LIMIT_SIGN_IN_MAX: "0",
    RATE_LIMIT_DEFAULT_MAX: "100000",
    RATE_LIMIT_AUTH_MAX: "100000",
    RATE_LIMIT_PREMIUM_MAX: "100000",
    ...settings,
  });
  await stage.app.listen({ port, host: "127.0.0.1" });
  after(async () => {
    await sandbox.close();
    await rm(dir, { recursive: true, force: true });
  });

  const control: BillingStage["control"] = async (path, body) => {
    const answer = await fetch(`${sandbox.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    assert.ok(answer.ok, `${path}: ${await answer.clone().text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const delivered: BillingStage["delivered"] = async () => {
    const deadline = Date.now() + 20_000;
    while (Number((await control("/payments/_control/deliveries"))["pending"]) > 0) {
      assert.ok(Date.now() < deadline, "events are still on their way");
      await pause(20);
    }
  };
  await control("/payments/_control", {
    endpoint: `${url}/functions/paymentWebhook`,
    finalizeAfterSeconds: 0,
  });

  const call: BillingStage["call"] = async (payer, path, body, headers = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${payer.token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  return {
    ...stage,
    url,
    sandboxUrl: sandbox.url,
    control,
    delivered,
    call,
    async signUp() {
      const who = newCredentials();
      const userId = await stage.deps.identity.createUser({ ...who, name: "Ada" });
      const signIn = await fetch(`${url}/api/auth/sign-in/email`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url },
        body: JSON.stringify(who),
      });
      const cookie = signIn.headers
        .getSetCookie()
        .map((each) => each.split(";")[0])
        .join("; ");
      const answer = await fetch(`${url}/api/auth/token`, { headers: { cookie } });
      const { token } = (await answer.json()) as { token: string };
      return { userId, token, cookie };
    },
    async checkout(payer, planId, card = "4242424242424242") {
      const { status, body } = await call(payer, "/api/create-checkout-session", { planId });
      assert.equal(status, 200, JSON.stringify(body));
      const paid = await fetch(String(body["url"]), {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ decision: "pay", card }),
      });
      assert.equal(paid.status, 303, await paid.text());
      return String(body["sessionId"]);
    },
    async forward(days) {
      await control("/_sandbox/clock", { advanceMs: days * 86_400_000 });
      await delivered();
    },
  };
}
