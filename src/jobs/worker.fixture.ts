// A worker as a process of its own, for tests in which processes die. Started by `spawnWorker` in jobs.testing.ts.
import { pino } from "pino";
import { createPool, serviceRole } from "../db/index.ts";
import { startWorker } from "./index.ts";
import { errand, recordRun } from "./jobs.testing.ts";

const [url = "", concurrency = "1"] = process.argv.slice(2);
const log = pino({ level: "silent" });
const db = createPool({ url, name: "fixture", size: 2, role: serviceRole }, log);
const finish = Promise.withResolvers<void>();

const worker = await startWorker({
  url,
  log,
  concurrency: Number(concurrency),
  tasks: [
    {
      ...errand,
      async run({ hangIn, killsProcess }, context) {
        await recordRun(db, context, worker.id);
        if (killsProcess) process.kill(process.pid, "SIGKILL");
        if (hangIn === process.pid) await finish.promise;
      },
    },
  ],
  onWedged: () => process.exit(3),
});

process.on("message", (message) => {
  if (message === "finish") finish.resolve();
  if (message === "stop") void worker.stop().then(() => process.exit(0));
});
process.on("disconnect", () => process.exit(4));
process.send?.(worker.id);
