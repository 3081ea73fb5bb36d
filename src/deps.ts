import type { Logger } from "pino";
import { createIdentity, createTokenVerifier } from "./auth/index.ts";
import type { Identity, TokenVerifier } from "./auth/index.ts";
import { systemClock } from "./clock.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { createBilling } from "./billing/index.ts";
import type { Billing } from "./billing/index.ts";
import { createPool, serviceRole } from "./db/index.ts";
import type { Pool } from "./db/index.ts";
import { createMetrics } from "./http/index.ts";
import type { Metrics } from "./http/index.ts";
import { createGate, createPostgresStore, createRedisStore } from "./limits/index.ts";
import type { Gate } from "./limits/index.ts";
import { createFileStorage, createS3Storage, createSmallFiles } from "./media/index.ts";
import type { SmallFiles, Storage } from "./media/index.ts";
import { createOutbound } from "./outbound/index.ts";
import type { Outbound } from "./outbound/index.ts";
import { createRegistry } from "./platforms/index.ts";
import type { Registry } from "./platforms/index.ts";
import { createSealer } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";
import { createSpeech } from "./transcription/index.ts";
import type { Speech } from "./transcription/index.ts";
import { createStudio } from "./templates/index.ts";
import type { Studio } from "./templates/index.ts";

export interface Deps {
  config: Config;
  log: Logger;
  clock: Clock;
  db: Pool;
  sealer: Sealer;
  metrics: Metrics;
  gate: Gate;
  identity: Identity;
  idTokens: TokenVerifier;
  outbound: Outbound;
  storage: Storage;
  billing: Billing;
  smallFiles: SmallFiles;
  registry: Registry;
  studio: Studio;
  speech: Speech;
  close(): Promise<void>;
}

/** Everything a process of the service shares between its rooms, built once. */
export function createDeps(config: Config, log: Logger, clock: Clock = systemClock): Deps {
  const db = createPool(
    {
      url: config.database.url,
      name: `herald ${process.pid}`,
      size: config.database.poolSize,
      role: serviceRole,
    },
    log,
  );
  const metrics = createMetrics();
  const store = config.limits.redisUrl
    ? createRedisStore(db, config.limits, log)
    : createPostgresStore(db, config.limits);
  const gate = createGate({
    store,
    limits: config.limits,
    log,
    countFailure: () => metrics.limiterFailures.inc(),
  });
  const identity = createIdentity({ db, log, secret: config.auth.secret, webUrl: config.urls.web });
  const outbound = createOutbound({ log, allowed: config.outbound.allowedPlaces });
  const idTokens = createTokenVerifier({
    builtIn: identity.issuer,
    outsideIssuers: config.auth.outsideIssuers,
    fetchJson: outbound.fetchJson,
    clock,
    log,
  });
  const { bucket, dir, s3 } = config.media;
  const storage = s3 ? createS3Storage({ ...s3, bucket }) : createFileStorage({ root: dir });
  const speech = createSpeech({ ...config.transcription, send: outbound.send, log });
  return {
    config,
    log,
    clock,
    db,
    sealer: createSealer(config.secrets.ring),
    metrics,
    gate,
    identity,
    idTokens,
    outbound,
    storage,
    billing: createBilling({ ...config.billing, send: outbound.send, log }),
    smallFiles: createSmallFiles(),
    registry: createRegistry(config.platforms),
    studio: createStudio(),
    speech,
    async close() {
      await speech.close();
      await gate.close();
      await storage.close();
      await outbound.close();
      await db.end();
    },
  };
}
