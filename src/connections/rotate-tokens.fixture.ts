// A process that does nothing but seal tokens again, to be killed in the middle of it.
import { pino } from "pino";
import { createPool, serviceRole } from "../db/index.ts";
import { createSealer } from "../sealing.ts";
import { rotateTokensTask } from "./rotate-tokens.ts";

const [url = "", ring = ""] = process.argv.slice(2);
const log = pino({ level: "silent" });
const keys = (JSON.parse(ring) as { id: string; key: string }[]).map(({ id, key }) => ({
  id,
  key: Buffer.from(key, "base64url"),
}));
const db = createPool({ url, name: "rotation", size: 2, role: serviceRole }, log);
await rotateTokensTask({ db, sealer: createSealer(keys) }).run(
  {},
  { jobId: "1", attempt: 1, isLastAttempt: false, log, signal: new AbortController().signal },
);
await db.end();
