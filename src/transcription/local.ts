import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { SpeechFailed } from "./failures.ts";
import { AudioUnreadable, ffmpegPath } from "./ffmpeg.ts";
import type { Outcome, Task } from "./local-child.ts";
import { createQueue } from "./local-queue.ts";
import type { Transcript } from "./transcript.ts";

export interface LocalSpeech {
  transcribe(path: string, options?: { signal?: AbortSignal }): Promise<Transcript>;
  /** Ends the work under way, which fails, and refuses more. */
  close(): Promise<void>;
}

export interface LocalSpeechOptions {
  log: Logger;
  /** Where the model's table of tokens is kept. */
  cacheDir: string;
  /** Beyond the one that is being transcribed. */
  maxWaiting?: number;
  /** On two cores, a second one saves a quarter of the time and leaves no core to the API. */
  threads?: number;
  /** The process holds 300 MB and takes a second to start. */
  idleMs?: number;
}

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

/** Ends the process and the ffmpeg that it may have started: both are in a group of their own. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child) || child.pid === undefined) return;
  const exit = once(child, "exit");
  process.kill(-child.pid, "SIGKILL");
  await exit;
}

async function ask(child: ChildProcess, task: Task, signal?: AbortSignal): Promise<Outcome> {
  const over = new AbortController();
  const onAbort = (): void => void end(child);
  signal?.addEventListener("abort", onAbort);
  try {
    child.send(task);
    return await Promise.race([
      once(child, "message", over).then(([outcome]) => outcome as Outcome),
      once(child, "exit", over).then(([code, killer]) => {
        throw new Error(`it ended with ${String(killer ?? code)}`);
      }),
    ]);
  } catch (error) {
    signal?.throwIfAborted();
    throw new SpeechFailed("The speech process failed", { cause: error });
  } finally {
    signal?.removeEventListener("abort", onAbort);
    over.abort();
  }
}

/** Speech to text on this machine, in a process of its own: this one only hands over the path and gets the text. */
export function createLocalSpeech(options: LocalSpeechOptions): LocalSpeech {
  const { log, cacheDir, maxWaiting = 20, threads = 1, idleMs = 300_000 } = options;
  const queue = createQueue(maxWaiting);
  const closing = new AbortController();
  let current: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;

  async function start(signal: AbortSignal): Promise<ChildProcess> {
    const programs = dirname(await ffmpegPath());
    signal.throwIfAborted();
    const entry = fileURLToPath(new URL("local-child.ts", import.meta.url));
    const child = fork(entry, [cacheDir, String(threads)], {
      // No secret of this process is in reach of what reads the files of strangers.
      env: { PATH: programs },
      execArgv: [],
      detached: true,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    child.on("error", (err) => log.warn({ err }, "speech process can't be reached"));
    let complaints = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaints = (complaints + text).slice(-4_000);
    });
    child.once("close", (code, killer) => {
      if (killer !== "SIGKILL") log.warn({ code, killer, complaints }, "speech process failed");
    });
    return child;
  }

  /** Forgotten at once: until the process is gone, a file would be handed to a dying one. */
  function rest(): void {
    if (current) void end(current);
    current = undefined;
  }

  async function transcribe(path: string, signal: AbortSignal): Promise<Transcript> {
    clearTimeout(idle);
    if (!current || hasEnded(current)) current = await start(signal);
    const outcome = await ask(current, { path }, signal);
    idle = setTimeout(rest, idleMs).unref();
    if ("unreadable" in outcome) throw new AudioUnreadable(outcome.unreadable);
    return outcome.transcript;
  }

  return {
    async transcribe(path, { signal } = {}) {
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      await queue.enter(either);
      try {
        return await transcribe(path, either);
      } finally {
        queue.leave();
      }
    },
    async close() {
      clearTimeout(idle);
      closing.abort(new SpeechFailed("Speech to text is shutting down"));
      if (current) await end(current);
    },
  };
}
