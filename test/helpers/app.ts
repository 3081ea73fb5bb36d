import { randomBytes, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { buildApp } from "../../src/app.ts";
import { createKey } from "../../src/auth/index.ts";
import { saveSubscription } from "../../src/billing/index.ts";
import type { Subscription } from "../../src/billing/index.ts";
import { loadConfig } from "../../src/config.ts";
import type { Config } from "../../src/config.ts";
import type { Db } from "../../src/db/index.ts";
import { createDeps } from "../../src/deps.ts";
import type { Deps } from "../../src/deps.ts";
import { quiet, testDatabase } from "./database.ts";
import type { TestDatabase } from "./database.ts";

export type Settings = Record<string, string>;

/** The least a configuration needs; everything else is the default. */
export function testSettings(databaseUrl: string): Settings {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(tmpdir(), `herald-data-${randomUUID()}`),
    DATABASE_POOL_SIZE: "10",
    HOST: "127.0.0.1",
    TOKEN_KEYS: `test:${randomBytes(32).toString("base64url")}`,
    AUTH_SECRET: randomBytes(32).toString("base64url"),
    LOG_LEVEL: "silent",
    SHUTDOWN_DRAIN_MS: "0",
  };
}

export interface TestApp extends TestDatabase {
  app: FastifyInstance;
  deps: Deps;
  config: Config;
}

/** The real app on a database of its own, without a socket. */
export async function testApp(settings: Settings = {}, log: Logger = quiet): Promise<TestApp> {
  const database = await testDatabase();
  const config = loadConfig({ ...testSettings(database.url), ...settings });
  const deps = createDeps(config, log);
  const app = await buildApp(deps);
  after(async () => {
    await app.close();
    await deps.close();
    await rm(config.dataDir, { recursive: true, force: true });
  });
  return { ...database, app, deps, config };
}

export interface TestUser {
  userId: string;
  key: string;
  keyId: string;
}

/** A user with an API key and, unless told otherwise, an active subscription. */
export async function createTestUser(
  db: Db,
  subscription: Partial<Subscription> | null = {},
  userId = `user_${randomUUID()}`,
): Promise<TestUser> {
  const { raw, id } = await createKey(db, userId, "test");
  if (subscription) {
    await saveSubscription(db, {
      userId,
      customerId: `cus_${userId}`,
      subscriptionId: `sub_${userId}`,
      status: "active",
      planId: "pro",
      priceId: "price_pro",
      currentPeriodStart: new Date(),
      currentPeriodEnd: new Date(Date.now() + 86_400_000),
      trialEnd: null,
      ...subscription,
    });
  }
  return { userId, key: raw, keyId: id };
}
