import type { Logger } from "pino";
import type { Identity, TokenVerifier } from "../auth/index.ts";
import type { Clock } from "../clock.ts";
import type { Pool } from "../db/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { Registry } from "../platforms/index.ts";
import type { Sealer } from "../sealing.ts";

/** What it takes to speak to a platform for an account. */
export interface AccountDeps {
  db: Pool;
  sealer: Sealer;
  clock: Clock;
  log: Logger;
  registry: Registry;
  outbound: Outbound;
}

/** And what it takes to connect one. */
export interface ConnectionDeps extends AccountDeps {
  identity: Pick<Identity, "readSession">;
  idTokens: TokenVerifier;
  urls: { functions: string; web: string };
  /** Origins beside the web app's that a user may be sent back to. */
  returnToOrigins: readonly string[];
}
