import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startSandbox } from "./app.ts";
import type { Sandbox } from "./app.ts";
import type { Service } from "./service.ts";

export async function temporaryDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "sandbox-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function testSandbox(t: TestContext, services?: readonly Service[]): Promise<Sandbox> {
  const sandbox = await startSandbox({
    port: 0,
    dataDir: await temporaryDir(t),
    ...(services && { services }),
  });
  t.after(() => sandbox.close());
  return sandbox;
}

export function postJson(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within 5 s: ${what}`);
    await sleep(5);
  }
}

export async function addFault(sandbox: Sandbox, rule: object): Promise<void> {
  const response = await postJson(`${sandbox.url}/_sandbox/faults`, {
    service: "workflow",
    ...rule,
  });
  assert.equal(response.status, 201, await response.clone().text());
}

export async function endFaults(sandbox: Sandbox): Promise<unknown> {
  return (await fetch(`${sandbox.url}/_sandbox/faults`, { method: "DELETE" })).json();
}

export const run = (sandbox: Sandbox, body: unknown = {}): Promise<Response> =>
  postJson(`${sandbox.url}/workflow`, body);
export const acceptedCalls = (sandbox: Sandbox): number =>
  sandbox.journal.find({ accepted: true }).entries.length;

export async function timesLeft(sandbox: Sandbox): Promise<number[]> {
  const response = await fetch(`${sandbox.url}/_sandbox/faults`);
  return ((await response.json()) as { faults: { times: number }[] }).faults.map(
    ({ times }) => times,
  );
}
