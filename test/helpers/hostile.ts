import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Logger } from "pino";
import { createTestUser, testApp } from "./app.ts";
import type { Settings } from "./app.ts";
import { quiet } from "./database.ts";
import { createOracle } from "./oracle.ts";
import type { Answer, Asked } from "./oracle.ts";
import { signUp } from "./tokens.ts";
import { changedTables, watchTraces } from "./traces.ts";

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
};

function judgeDetail({ detail }: Case, { body }: Answer): void {
  if (!detail) return;
  const { error } = JSON.parse(body) as { error: { details?: Record<string, string>[] } };
  const isThere = error.details?.some((entry) =>
    Object.entries(detail).every(([name, value]) => entry[name] === value),
  );
  assert.ok(isThere, `no detail ${JSON.stringify(detail)} in ${body.slice(0, 400)}`);
}

/** The real app with a user, a key, and the judge of every answer. */
export async function hostileApp(settings: Settings = {}, log: Logger = quiet) {
  const test = await testApp({ ...unlimited, ...settings }, log);
  const { app, config, db, owner } = test;
  const { token, userId } = await signUp(app, config.urls.web);
  const { key } = await createTestUser(db);
  const { body: document } = await app.inject({ url: "/openapi.json" });
  const undocumented = new Set<string>();
  const judge = createOracle(
    JSON.parse(document) as Parameters<typeof createOracle>[0],
    undocumented,
  );
  const look = await watchTraces(owner);
  const secrets = [token, key];

  function headersOf({ path, body, headers, isAnonymous }: Case): Record<string, string> {
    return {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(isAnonymous ? {} : { authorization: `Bearer ${token}` }),
      ...(isAnonymous || path.includes("api-keys") ? {} : { "svc-api-key": key }),
      ...headers,
    };
  }

  async function ask(each: Case): Promise<Answer & { ms: number }> {
    const startedAt = performance.now();
    const answer = await app.inject({
      method: each.method ?? "GET",
      url: each.path,
      headers: headersOf(each),
      ...(each.body === undefined ? {} : { payload: each.body }),
    });
    const headers = answer.headers as Answer["headers"];
    const ms = performance.now() - startedAt;
    return { status: answer.statusCode, headers, body: answer.body, ms };
  }

  let before = await look();
  /** The answer to a case, judged: also by its time and by what it left in the database. */
  async function run(each: Case): Promise<Answer> {
    before = await look();
    const answer = await ask(each);
    const asked: Asked = {
      method: each.method ?? "GET",
      path: each.path.split("?")[0] ?? "",
      requestId: each.headers?.["x-request-id"],
      secrets,
    };
    judge(asked, answer);
    const expected = [each.expect].flat();
    assert.ok(expected.includes(answer.status), `${answer.status} ${answer.body.slice(0, 400)}`);
    judgeDetail(each, answer);
    if (answer.status >= 400) {
      const changed = changedTables(before, await look()).filter((table) => table !== each.noted);
      assert.deepEqual(changed, [], "nothing is left behind");
      // Once more before it is called slow: the machine may have been busy with something else.
      if (answer.ms > 1_000) assert.ok((await ask(each)).ms < 1_000, "answered within a second");
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
    ...{ ...test, token, userId, key, secrets, look },
    ...{ judge, run, runAll, undocumented, caseCount: () => count },
  };
}
