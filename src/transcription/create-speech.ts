import type { Logger } from "pino";
import type { Send } from "../outbound/index.ts";
import { createLocalSpeech } from "./local.ts";
import { createRemoteSpeech } from "./remote.ts";
import type { RemoteSettings } from "./remote-call.ts";
import type { Speech } from "./speech.ts";

/** A provider where one is named; else the engine of this machine, which knows English. */
export function createSpeech(options: {
  remote: RemoteSettings | null;
  cacheDir: string;
  send: Send;
  log: Logger;
}): Speech {
  const { remote, cacheDir, send, log } = options;
  if (remote) return createRemoteSpeech(send, remote);
  const local = createLocalSpeech({ log, cacheDir });
  return {
    models: ["moonshine-tiny"],
    languages: ["en"],
    transcribe: async ({ path, signal }) => await local.transcribe(path, { signal }),
    close: async () => await local.close(),
  };
}
