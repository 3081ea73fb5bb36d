import { hash, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKey } from "./auth/index.ts";
import { saveSubscription } from "./billing/index.ts";
import { accountsOf } from "./connections/index.ts";
import { connectDemoAccount } from "./demo-connection.ts";
import { receivePayments, subscribeDemo } from "./demo-subscription.ts";
import { prepareDemoBusiness } from "./demo-business.ts";
import type { Deps } from "./deps.ts";

const trialDays = 7;

/** What a newcomer needs to try everything; written to `quickstart.json` and printed. */
export interface QuickStart {
  baseUrl: string;
  functionsUrl: string;
  webUrl: string;
  sandboxUrl: string;
  apiKey: string;
  functionsKey: string;
  email: string;
  password: string;
}

async function readJson<Shape>(path: string): Promise<Shape | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Shape;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`${path} can't be read`, { cause: error });
  }
}

/** Whole or not at all, and for the owner's eyes only. */
async function writeSecret(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

const secret = (): string => randomBytes(32).toString("base64url");

/** Secrets that a production set-up gives as settings are made once and kept beside the data. */
export async function ownSecrets(dataDir: string): Promise<Record<string, string>> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, "secrets.json");
  const kept = await readJson<Record<string, string>>(path);
  if (kept) return kept;
  const made = {
    TOKEN_KEYS: `k1:${secret()}`,
    AUTH_SECRET: secret(),
    FUNCTIONS_KEYS: `fk_${secret()}`,
  };
  await writeSecret(path, made);
  return made;
}

async function startTrial({ db, clock }: Deps, userId: string): Promise<void> {
  const now = clock.now();
  const end = new Date(now.getTime() + trialDays * 86_400_000);
  await saveSubscription(db, {
    userId,
    customerId: "cus_demo",
    subscriptionId: "sub_demo",
    status: "trialing",
    planId: "pro",
    priceId: "price_demo_pro",
    currentPeriodStart: now,
    currentPeriodEnd: end,
    trialEnd: end,
  });
}

async function hasUsableDemo(
  { db }: Deps,
  apiKey: string,
): Promise<{ userId: string; isActive: boolean } | undefined> {
  const { rows } = await db.query<{
    user_id: string;
    subscription_state: string;
    key_state: string;
  }>("select * from identify_many($1, $2)", [[hash("sha256", apiKey)], [null]]);
  const found = rows[0];
  if (found?.key_state !== "valid") return undefined;
  return { userId: found.user_id, isActive: found.subscription_state === "active" };
}

const networkIn = (sandboxUrl: string): Record<string, string> => ({
  NETWORK_AUTH_URL: `${sandboxUrl}/linkedin/oauth/v2/authorization`,
  NETWORK_TOKEN_URL: `${sandboxUrl}/linkedin/oauth/v2/accessToken`,
  NETWORK_USERINFO_URL: `${sandboxUrl}/linkedin/v2/userinfo`,
  NETWORK_PROFILE_URL: `${sandboxUrl}/linkedin/v2/me`,
  NETWORK_UGC_URL: `${sandboxUrl}/linkedin/v2/ugcPosts`,
  NETWORK_WEB_URL: `${sandboxUrl}/linkedin`,
  NETWORK_CLIENT_ID: "sandbox-linkedin",
  NETWORK_CLIENT_SECRET: "sandbox-linkedin-secret",
  // The sandbox's file host is at a private address.
  MEDIA_ALLOW_PRIVATE: new URL(sandboxUrl).host,
});

const paymentsIn = (sandboxUrl: string): Record<string, string> => ({
  STRIPE_SECRET_KEY: "sk_test_sandbox",
  STRIPE_API_URL: sandboxUrl,
  WEBHOOK_SIGNING_SECRET: "whsec_sandbox",
});

export interface Sandboxed {
  network: boolean;
  payments: boolean;
  workflow: boolean;
}

/** What nobody has credentials for is played by the sandbox. */
export const sandboxed = (env: Record<string, string | undefined>): Sandboxed => ({
  network: !env["NETWORK_CLIENT_ID"],
  payments: !env["STRIPE_SECRET_KEY"],
  workflow: !env["WORKFLOW_URL"],
});

/** The addresses of the outside world, where it is the sandbox. */
export function sandboxSettings(
  sandboxUrl: string,
  played: Sandboxed = { network: true, payments: true, workflow: true },
): Record<string, string> {
  return {
    ...(played.network ? networkIn(sandboxUrl) : {}),
    ...(played.payments ? paymentsIn(sandboxUrl) : {}),
    ...(played.workflow ? { WORKFLOW_URL: `${sandboxUrl}/workflow` } : {}),
  };
}

async function connectOnce({ db, config }: Deps, demo: QuickStart, userId: string): Promise<void> {
  const [accounts = []] = await accountsOf(db, [userId]);
  if (accounts.some((account) => account.platform === "linkedin" && account.status === "active"))
    return;
  await connectDemoAccount({
    functionsUrl: config.urls.functions,
    webUrl: config.urls.web,
    email: demo.email,
    password: demo.password,
    start: "networkAuthStart",
    consent: { decision: "allow", member: "Ada1815_Lv" },
  });
}

/** Creates the demo user and business once. A later start finds it again, and renews a trial that has run out. */
export async function prepareDemo(
  deps: Deps,
  sandboxUrl: string,
  { network, payments }: Sandboxed,
): Promise<QuickStart> {
  const { quickStart, userId, isActive } = await prepareUser(deps, sandboxUrl);
  if (payments) await receivePayments(sandboxUrl, quickStart.functionsUrl);
  if (!isActive) await (payments ? subscribeDemo(quickStart, "pro") : startTrial(deps, userId));
  if (network) await connectOnce(deps, quickStart, userId);
  await prepareDemoBusiness(deps);
  return quickStart;
}

async function prepareUser(
  deps: Deps,
  sandboxUrl: string,
): Promise<{ quickStart: QuickStart; userId: string; isActive: boolean }> {
  const { config, db, identity } = deps;
  const path = join(config.dataDir, "quickstart.json");
  const addresses = {
    baseUrl: config.urls.base,
    functionsUrl: config.urls.functions,
    webUrl: config.urls.web,
    sandboxUrl,
    functionsKey: config.auth.functionKeys[0] ?? "",
  };
  const kept = await readJson<QuickStart>(path);
  const demo = kept && (await hasUsableDemo(deps, kept.apiKey));
  if (kept && demo) {
    const quickStart = { ...kept, ...addresses };
    await writeSecret(path, quickStart);
    return { quickStart, ...demo };
  }
  const email = kept?.email ?? "demo@herald.example";
  const password = kept?.password ?? secret();
  const userId = await identity.createUser({ email, password, name: "Demo" });
  const { raw } = await createKey(db, userId, "quick start");
  const quickStart = { ...addresses, apiKey: raw, email, password };
  await writeSecret(path, quickStart);
  return { quickStart, userId, isActive: false };
}

export function greeting(quickStart: QuickStart): string {
  return `
Herald is running.

  API        ${quickStart.baseUrl}
  Reference  ${quickStart.baseUrl}/docs
  Functions  ${quickStart.functionsUrl}  (x-api-key: ${quickStart.functionsKey})
  Web        ${quickStart.webUrl}
  Sandbox    ${quickStart.sandboxUrl}/_sandbox
  API key    ${quickStart.apiKey}
  Sign in    ${quickStart.email}  ${quickStart.password}

Publish your first post, then look at ${quickStart.sandboxUrl}/linkedin/feed:
  curl ${quickStart.baseUrl}/v1/posts -H 'svc-api-key: ${quickStart.apiKey}' -H 'content-type: application/json' \\
    -d '{"post":{"content":{"text":"Hello from Herald","platform":"linkedin"}}}'

Ctrl-C stops everything.
`;
}
