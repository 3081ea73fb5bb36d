import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { pino } from "pino";
import { startSandbox } from "../../sandbox/app.ts";
import type { Db } from "../../src/db/index.ts";
import { sandboxSettings } from "../../src/quick-start.ts";
import { testApp } from "./app.ts";
import type { Settings, TestApp } from "./app.ts";
import { signedRequest } from "./payment-events.ts";
import type { Story, WireEvent } from "./payment-events.ts";

export interface PaymentSandbox {
  url: string;
  /** What its owner sets. Without a body: what was set is undone. */
  control(path: string, body?: unknown): Promise<void>;
}

/** The payment provider with its plans. It sends nothing: only what the test tells arrives. */
export async function paymentSandbox(): Promise<PaymentSandbox> {
  const dir = await mkdtemp(join(tmpdir(), "herald-payments-"));
  const { url, close } = await startSandbox({ port: 0, dataDir: dir });
  after(async () => {
    await close();
    await rm(dir, { recursive: true, force: true });
  });
  return {
    url,
    async control(path, body) {
      const answer = await fetch(`${url}${path}`, {
        method: body === undefined ? "DELETE" : "POST",
        ...(body !== undefined && {
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      });
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    },
  };
}

export interface PaymentStage extends TestApp {
  log: Record<string, unknown>[];
  /** Through the real route; answers with the status. */
  tell(event: WireEvent): Promise<number>;
}

export async function paymentStage(
  sandbox: PaymentSandbox,
  settings: Settings = {},
): Promise<PaymentStage> {
  const log: Record<string, unknown>[] = [];
  const write = (line: string): void => void log.push(JSON.parse(line) as Record<string, unknown>);
  const stage = await testApp(
    { ...sandboxSettings(sandbox.url), ...settings },
    pino({ level: "info" }, { write }),
  );
  const tell = async (event: WireEvent): Promise<number> =>
    (await stage.app.inject(signedRequest(event))).statusCode;
  return { ...stage, log, tell };
}

export interface Outcome {
  subscription: Record<string, unknown> | null;
  balance: number | null;
  /** Kind, amount and key of each. */
  ledger: [string, number, string][];
  /** Kind, key and details of each. */
  notices: [string, string, unknown][];
}

/** Everything that followed from a story's events, with the story's own name taken out. */
export async function outcomeOf(db: Db, { name, userId }: Story): Promise<Outcome> {
  const { rows } = await db.query<{ outcome: string }>({
    name: "outcome",
    text: `select jsonb_build_object(
      'subscription', (select to_jsonb(s) - 'updated_at' from subscriptions s where user_id = $1),
      'balance', (select balance from credit_balances where user_id = $1),
      'ledger', coalesce((select jsonb_agg(jsonb_build_array(kind, amount, idempotency_key) order by idempotency_key)
                          from credit_entries where user_id = $1), '[]'),
      'notices', coalesce((select jsonb_agg(jsonb_build_array(kind, key, details) order by key)
                           from notices where user_id = $1), '[]'))::text as outcome`,
    values: [userId],
  });
  return JSON.parse((rows[0]?.outcome ?? "null").replaceAll(name, "NAME")) as Outcome;
}

/** How many rows there are of everything that an event can write. */
export async function countRows(db: Db): Promise<Record<string, number>> {
  const { rows } = await db.query<Record<string, number>>(
    `select (select count(*)::int from payment_events) as events,
            (select count(*)::int from subscriptions) as subscriptions,
            (select count(*)::int from subscription_states) as states,
            (select count(*)::int from credit_entries) as entries,
            (select count(*)::int from credit_balances) as balances,
            (select count(*)::int from notices) as notices`,
  );
  return rows[0] ?? {};
}

/** In seconds, as the provider counts. */
export const periodStart = (subscription: Outcome["subscription"]): number =>
  Date.parse(String(subscription?.["current_period_start"])) / 1_000;
