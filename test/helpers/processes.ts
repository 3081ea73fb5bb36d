import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface ServiceProcess {
  child: ChildProcess;
  /** Resolves with the first log line that has this message; rejects when the process ends before. */
  line(message: string): Promise<Record<string, unknown>>;
  /** The first line it prints, for programs that print one and no log. */
  firstJson(): Promise<Record<string, unknown>>;
  /** Everything it has logged so far. */
  log: Record<string, unknown>[];
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Runs an entry file of the service as a process of its own, and reads its log. */
export function startProcess(entry: string, settings: Record<string, string>): ServiceProcess {
  const child = spawn(process.execPath, [new URL(`../../${entry}`, import.meta.url).pathname], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: join(tmpdir(), "herald-compile-cache"),
      ...settings,
      LOG_LEVEL: "info",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const log: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((look) => look());
  createInterface({ input: child.stdout }).on("line", (text) => {
    log.push(text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : { msg: text });
    wake();
  });
  child.once("exit", wake);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const waitFor = async (isIt: (line: Record<string, unknown>) => boolean, what: string) =>
    await new Promise<Record<string, unknown>>((resolve, reject) => {
      const look = (): void => {
        const found = log.find(isIt);
        if (!found && !hasEnded()) return;
        waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error(`${entry} ended with ${child.exitCode} before ${what}`));
      };
      waiting.add(look);
      look();
    });

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (hasEnded()) return;
    child.kill(signal);
    await once(child, "exit");
  };
  return {
    child,
    log,
    line: async (message) => await waitFor(({ msg }) => msg === message, `"${message}"`),
    firstJson: async () => await waitFor(() => true, "its first line"),
    stop: async () => await end("SIGTERM"),
    kill: async () => await end("SIGKILL"),
  };
}

/** An API process on a free port. */
export async function startApiProcess(settings: Record<string, string>) {
  const api = startProcess("src/server.ts", { PORT: "0", ...settings });
  const { address } = await api.line("listening");
  return { ...api, url: String(address) };
}
