import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { availableParallelism, loadavg } from "node:os";
import type { TestContext } from "node:test";
import type { Logger } from "pino";
import { createTestUser, testApp } from "./app.ts";
import type { Settings } from "./app.ts";
import { quiet } from "./database.ts";
import { createOracle } from "./oracle.ts";
import type { Answer, Asked } from "./oracle.ts";
import { signUp } from "./tokens.ts";
import { changedTables, watchTraces } from "./traces.ts";
import type { Traces } from "./traces.ts";

/** One request and what is to come of it. The credential that the route wants is added, unless the case brings one. */
export interface Case {
  name: string;
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD";
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  isAnonymous?: boolean;
  expect: number | readonly number[];
  /** Part of what one of the details says. */
  detail?: { field?: string; code?: string };
  /** The one table that the refusal is to be noted in. */
  noted?: "audit_log";
}

// Limits that no corpus reaches, with windows so short that counting stays cheap.
const unlimited: Settings = {
  ...Object.fromEntries(
    ["DEFAULT", "AUTH", "PREMIUM", "ADMIN"].flatMap((tier) => [
      [`RATE_LIMIT_${tier}_MAX`, "1000000"],
      [`RATE_LIMIT_${tier}_WINDOW`, "100"],
    ]),
  ),
  RATE_LIMIT_SIGN_IN_MAX: "1000000",
  RATE_LIMIT_FUNCTIONS_MAX: "1000000",
};

const functionsKey = `fk_${randomUUID()}`;

function judgeDetail({ detail }: Case, { body }: Answer): void {
  if (!detail) return;
  const { error } = JSON.parse(body) as { error: { details?: Record<string, string>[] } };
  const isThere = error.details?.some((entry) =>
    Object.entries(detail).every(([name, value]) => entry[name] === value),
  );
  assert.ok(isThere, `no detail ${JSON.stringify(detail)} in ${body.slice(0, 400)}`);
}

/** What was sent as a credential is not repeated either, right or wrong; what is shorter may be in any answer. */
function credentialsIn({ headers = {} }: Case): string[] {
  const sent = ["authorization", "svc-api-key", "cookie"].map((name) => headers[name] ?? "");
  return sent.map((value) => value.replace(/^Bearer /i, "")).filter((value) => value.length > 12);
}

/** The real app, callers with all it asks for, and the judge of every answer. */
export async function hostileApp(settings: Settings = {}, log: Logger = quiet) {
  const test = await testApp({ ...unlimited, FUNCTIONS_KEYS: functionsKey, ...settings }, log);
  const { app, config, db, owner } = test;
  const { token } = await signUp(app, config.urls.web);
  const { body: document } = await app.inject({ url: "/openapi.json" });
  const undocumented = new Set<string>();
  const judge = createOracle(
    JSON.parse(document) as Parameters<typeof createOracle>[0],
    undocumented,
  );
  const look = await watchTraces(owner);
  const secrets = [token, functionsKey];

  let key = "";
  let keyUses = 0;
  /** What was there after the last case, if that changed nothing. */
  let known: Traces | undefined;

  /** The limits of endpoints can't be set, so each user asks a few times only. */
  async function currentKey(): Promise<string> {
    if (keyUses++ % 10 === 0) {
      ({ key } = await createTestUser(db));
      secrets.push(key);
      known = undefined;
    }
    return key;
  }

  async function headersOf(each: Case): Promise<Record<string, string>> {
    const { path, body, headers, isAnonymous } = each;
    const takesKey = !isAnonymous && !path.includes("api-keys");
    return {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(isAnonymous ? {} : { authorization: `Bearer ${token}` }),
      ...(isAnonymous ? {} : { "x-api-key": functionsKey }),
      ...(takesKey ? { "svc-api-key": await currentKey() } : {}),
      ...headers,
    };
  }

  async function ask(each: Case, given: Record<string, string>): Promise<Answer & { ms: number }> {
    const startedAt = performance.now();
    const answer = await app.inject({
      method: each.method ?? "GET",
      url: each.path,
      headers: given,
      ...(each.body === undefined ? {} : { payload: each.body }),
    });
    const headers = answer.headers as Answer["headers"];
    const ms = performance.now() - startedAt;
    return { status: answer.statusCode, headers, body: answer.body, ms };
  }

  /** The answer to a case, judged: also by its time and by what it left in the database. */
  async function run(each: Case): Promise<Answer> {
    const headers = await headersOf(each);
    const before = known ?? (await look());
    known = undefined;
    const answer = await ask(each, headers);
    const asked: Asked = {
      method: each.method ?? "GET",
      path: each.path.split("?")[0] ?? "",
      requestId: each.headers?.["x-request-id"],
      secrets: [...secrets, ...credentialsIn(each)],
    };
    judge(asked, answer);
    const expected = [each.expect].flat();
    assert.ok(expected.includes(answer.status), `${answer.status} ${answer.body.slice(0, 400)}`);
    judgeDetail(each, answer);
    if (answer.status >= 400) {
      known = await look();
      const changed = changedTables(before, known).filter((table) => table !== each.noted);
      assert.deepEqual(changed, [], "nothing is left behind");
      // Asked again before it is called slow, and not held to what a machine with too much to do can't keep.
      const limitMs = 1_000 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
      for (let { ms } = answer, tries = 1; ms > limitMs; { ms } = await ask(each, headers), tries++)
        assert.ok(tries < 4, `${Math.round(ms)} ms for an answer`);
    }
    return answer;
  }

  let count = 0;
  /** Runs all cases and names every one that failed. */
  async function runAll(t: TestContext, cases: readonly Case[]): Promise<void> {
    const failures: string[] = [];
    for (const each of cases) {
      await run(each).catch((error: Error) => failures.push(`${each.name}: ${error.message}`));
    }
    count += cases.length;
    t.diagnostic(`${cases.length} cases`);
    const shown = failures.slice(0, 10).join("\n");
    assert.equal(failures.length, 0, `${failures.length} of ${cases.length} failed:\n${shown}`);
  }

  return {
    ...test,
    token,
    secrets,
    look,
    judge,
    run,
    runAll,
    undocumented,
    caseCount: () => count,
  };
}
