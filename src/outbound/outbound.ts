import type { Logger } from "pino";
import { Agent } from "undici";
import { createDial } from "./dial.ts";
import type { DialOptions, Ways } from "./dial.ts";
import { createDownload } from "./download.ts";
import type { StartDownload } from "./download.ts";
import { createFetchJson } from "./fetch-json.ts";
import type { FetchJson } from "./fetch-json.ts";
import { createSend } from "./send.ts";
import type { Send } from "./send.ts";

export interface Outbound {
  fetchJson: FetchJson;
  send: Send;
  download: StartDownload;
  /** Waits for the calls under way; a download ends by its own deadline. */
  close(): Promise<void>;
}

/** `resolve` and `connect` are the network: left out, they are that of the machine. */
export function createOutbound({ log, ...ways }: { log: Logger } & Ways): Outbound {
  const agent = (options: DialOptions): Agent =>
    new Agent({ connect: createDial(ways, options), allowH2: false });
  const agents = {
    open: agent({ isGuarded: false }),
    guarded: agent({ isGuarded: true }),
    unverified: agent({ isGuarded: false, acceptsAnyCertificate: true }),
  };
  const send = createSend(log, agents);
  return {
    send,
    fetchJson: createFetchJson(send),
    download: createDownload(log, ways),
    async close() {
      await Promise.all(Object.values(agents).map((each) => each.close()));
    },
  };
}
