import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess, StdioOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import type { Entry } from "./journal.ts";
import { postJson, temporaryDir, until } from "./testing.ts";

const serverFile = join(import.meta.dirname, "server.ts");

interface Running {
  process: ChildProcess;
  url: string;
  exited: Promise<unknown[]>;
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return line;
}

async function startProcess(t: TestContext, dataDir: string): Promise<Running> {
  const env = { ...process.env, SANDBOX_PORT: "0", SANDBOX_DATA_DIR: dataDir };
  const stdio: StdioOptions = ["ignore", "pipe", "inherit"];
  const child = spawn(process.execPath, [serverFile], { env, stdio });
  t.after(() => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const { url } = JSON.parse(await firstLine(child)) as { url: string };
  return { process: child, url, exited };
}

async function wholeJournal(url: string): Promise<Entry[]> {
  const response = await fetch(`${url}/_sandbox/journal?limit=1000`);
  return ((await response.json()) as { entries: Entry[] }).entries;
}

describe("the sandbox process", { concurrency: true }, () => {
  test("every call answered before a kill -9 is in the journal after the restart, 10 times", async (t) => {
    const dataDir = await temporaryDir(t);
    const answered = new Set<string>();
    for (let round = 0; round < 10; round++) {
      const sandbox = await startProcess(t, dataDir);
      const entries = await wholeJournal(sandbox.url);
      const journaled = new Set(entries.map(({ outcome }) => outcome.remoteId));
      assert.deepEqual(
        [...answered].filter((id) => !journaled.has(id)),
        [],
      );
      assert.deepEqual(
        entries.map(({ seq }) => seq),
        entries.map((_, index) => index + 1),
      );
      // Killed at the first answer of some calls in flight, so that others are cut in mid-write.
      const calls = Array.from({ length: 1 + round }, async () => {
        const response = await postJson(`${sandbox.url}/workflow`, { round });
        const { id } = (await response.json()) as { id: string };
        answered.add(id);
        sandbox.process.kill("SIGKILL");
      });
      await Promise.allSettled(calls);
      await sandbox.exited;
    }
    assert.ok(answered.size >= 10);
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal} stops it with code 0, a hung call notwithstanding`, async (t) => {
      const sandbox = await startProcess(t, await temporaryDir(t));
      await postJson(`${sandbox.url}/_sandbox/faults`, {
        service: "workflow",
        effect: "hang",
        phase: "after",
      });
      const hung = assert.rejects(postJson(`${sandbox.url}/workflow`, {}));
      await until(
        "the call is journaled",
        async () => (await wholeJournal(sandbox.url)).length === 1,
      );
      sandbox.process.kill(signal);
      assert.deepEqual(await sandbox.exited, [0, null]);
      await hung;
    });
  }

  test("it ends when the parent that holds its channel is killed", async (t) => {
    const env = { ...process.env, SANDBOX_PORT: "0", SANDBOX_DATA_DIR: await temporaryDir(t) };
    const script = `require("node:child_process").fork(${JSON.stringify(serverFile)})`;
    const parent = spawn(process.execPath, ["-e", script], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => parent.kill("SIGKILL"));
    const { url, pid } = JSON.parse(await firstLine(parent)) as { url: string; pid: number };
    assert.deepEqual(await wholeJournal(url), []);
    // Both write to one pipe, so its end means that both are gone.
    const ended = once(parent, "close", { signal: AbortSignal.timeout(5000) });
    parent.kill("SIGKILL");
    await ended.catch((error: unknown) => {
      process.kill(pid, "SIGKILL");
      throw error;
    });
    await assert.rejects(fetch(url));
  });

  test("a bad port is refused at the start", async (t) => {
    const env = { ...process.env, SANDBOX_PORT: "http", SANDBOX_DATA_DIR: await temporaryDir(t) };
    const child = spawn(process.execPath, [serverFile], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    t.after(() => child.kill("SIGKILL"));
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    assert.deepEqual(await once(child, "close"), [1, null]);
    assert.match(errors, /SANDBOX_PORT/);
  });
});
