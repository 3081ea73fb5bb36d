import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import type { TestContext } from "node:test";
import { pino } from "pino";
import type { Sandbox } from "../../sandbox/app.ts";
import type { Entry } from "../../sandbox/journal.ts";
import { addFault, testSandbox } from "../../sandbox/testing.ts";
import { createOutbound } from "../../src/outbound/index.ts";
import { bindCall, PlatformError } from "../../src/platforms/index.ts";
import type { Call, PlatformAdapter, Published } from "../../src/platforms/index.ts";

/** An adapter and its twin in the sandbox. */
export interface Subject {
  /** As the sandbox names the service, and the two calls in its journal. */
  service: string;
  operations: { profile: string; publish: string };
  adapterAt(sandboxUrl: string): PlatformAdapter;
  /** Connects an account the way a person does, and returns its access token. */
  connect(adapter: PlatformAdapter): Promise<string>;
  /** The text that a publishing call asked for. */
  textIn(body: string): unknown;
  /** Which headers of the answer tell the new post's id. */
  idHeaders: readonly string[];
}

export interface Rule {
  effect: string;
  phase: "before" | "after";
  [detail: string]: unknown;
}

export interface Scene {
  adapter: PlatformAdapter;
  sandbox: Sandbox;
  fault(rule: Rule & { operation?: string }): Promise<void>;
  call(timeoutMs?: number): Call;
  /** Every publishing call that reached the platform, refused ones too. */
  attempts(): Entry[];
}

const outbound = createOutbound({ log: pino({ level: "silent" }) });
const endlessMs = 30_000;

export async function sceneOf(t: TestContext, subject: Subject): Promise<Scene> {
  const { service, operations } = subject;
  const sandbox = await testSandbox(t);
  const adapter = subject.adapterAt(sandbox.url);
  const accessToken = await subject.connect(adapter);
  const connecting = bindCall(outbound, { accessToken, account: null, timeoutMs: endlessMs });
  const { accountId, authorUrn } = await adapter.profile(connecting);
  const account = { accountId, authorUrn };
  return {
    adapter,
    sandbox,
    fault: (rule) => addFault(sandbox, { service, operation: operations.publish, ...rule }),
    call: (timeoutMs = endlessMs) => bindCall(outbound, { accessToken, account, timeoutMs }),
    attempts: () => sandbox.journal.find({ operation: operations.publish }).entries,
  };
}

/** What came of it: the post, or the kind of the failure. Nothing but `PlatformError` may be thrown. */
export async function outcomeOf(act: Promise<Published>): Promise<Published | PlatformError> {
  return await act.catch((error: unknown) => {
    assert.ok(error instanceof PlatformError, String(error));
    return error;
  });
}

export async function failureOf(act: Promise<unknown>): Promise<PlatformError> {
  const error = await act.then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PlatformError, String(error));
  return error;
}

export async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function isAccepted({ accepted }: Entry): boolean {
  return accepted;
}

/** A deadline that ends a hanging call soon, and no other call. */
export function patienceFor({ effect }: Rule): number {
  return effect === "hang" || effect === "trickle" ? 500 : endlessMs;
}
