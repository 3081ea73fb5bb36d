import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { QuickStart } from "../../src/quick-start.ts";

const dataDir = await mkdtemp(join(tmpdir(), "herald-start-"));

async function twoFreePorts(): Promise<number> {
  for (;;) {
    const first = createServer().listen(0, "127.0.0.1");
    await once(first, "listening");
    const { port } = first.address() as AddressInfo;
    const second = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      second.once("error", () => resolve(false)).listen(port + 1, "127.0.0.1", () => resolve(true));
    });
    first.close();
    second.close();
    if (isFree) return port;
  }
}

const port = await twoFreePorts();

/** Every process whose data is in our folder, by its working directory, arguments or environment. */
function processesOfOurs(): string[] {
  const script = `for p in /proc/[0-9]*; do
    if tr '\\0' ' ' < $p/environ 2>/dev/null | grep -q "DATA_DIR=${dataDir}" ||
       readlink $p/cwd 2>/dev/null | grep -q "^${dataDir}"; then basename $p; fi; done`;
  return spawnSync("sh", ["-c", script]).stdout.toString().split("\n").filter(Boolean);
}

interface Started {
  child: ChildProcess;
  quickStart: QuickStart;
}

async function start(): Promise<Started> {
  const child = spawn(process.execPath, ["src/start.ts"], {
    cwd: new URL("../../", import.meta.url),
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes("Ctrl-C stops everything")) break;
  }
  const file = join(dataDir, "quickstart.json");
  const quickStart = JSON.parse(await readFile(file, "utf8")) as QuickStart;
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.ok(printed.includes(quickStart.apiKey));
  return { child, quickStart };
}

async function works({ quickStart }: Started): Promise<void> {
  const health = await fetch(`${quickStart.baseUrl}/health`);
  assert.deepEqual(
    [health.status, ((await health.json()) as { status: string }).status],
    [200, "ok"],
  );
  const me = await fetch(`${quickStart.baseUrl}/v1/me`, {
    headers: { "svc-api-key": quickStart.apiKey },
  });
  assert.equal(me.status, 200);
  const signIn = await fetch(`${quickStart.webUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: quickStart.webUrl },
    body: JSON.stringify({ email: quickStart.email, password: quickStart.password }),
  });
  assert.equal(signIn.status, 200);
  assert.equal((await fetch(`${quickStart.sandboxUrl}/_sandbox`)).status, 200);
}

after(async () => {
  for (const pid of processesOfOurs()) process.kill(Number(pid), "SIGKILL");
  await rm(dataDir, { recursive: true, force: true });
});

test("one command starts everything, survives kill -9 of all of it, and leaves nothing after Ctrl-C", async () => {
  const first = await start();
  await works(first);

  for (const pid of processesOfOurs()) process.kill(Number(pid), "SIGKILL");
  while (processesOfOurs().length > 0) await pause(10);

  const second = await start();
  await works(second);
  assert.deepEqual(second.quickStart, first.quickStart);

  // kill -9 of the main process alone: the database stays and is adopted, the sandbox ends by itself.
  second.child.kill("SIGKILL");
  await once(second.child, "exit");
  const third = await start();
  await works(third);

  // Ctrl-C reaches the whole process group.
  process.kill(-(third.child.pid ?? 0), "SIGINT");
  const [code] = (await once(third.child, "exit")) as [number];
  assert.equal(code, 0);
  assert.deepEqual(processesOfOurs(), []);
});
