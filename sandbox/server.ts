import { z } from "zod";
import { startSandbox } from "./app.ts";

const env = z
  .object({
    SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).default(3001),
    SANDBOX_HOST: z.string().default("127.0.0.1"),
    SANDBOX_DATA_DIR: z.string().default("./data/sandbox"),
  })
  .parse(process.env);

const starting = startSandbox({
  port: env.SANDBOX_PORT,
  host: env.SANDBOX_HOST,
  dataDir: env.SANDBOX_DATA_DIR,
});

let stopping: Promise<void> | undefined;
function stop(): void {
  stopping ??= starting.then((sandbox) => sandbox.close()).then(() => process.exit(0));
}

process.on("SIGTERM", stop);
process.on("SIGINT", stop);
// Only a process with an IPC channel has this: an orphan would keep the port and the journal.
process.on("disconnect", stop);
if ("connected" in process && !process.connected) stop();

const { url } = await starting;
process.stdout.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
