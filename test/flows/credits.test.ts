import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { adjust, debit, grantPeriod, refund } from "../../src/billing/index.ts";
import { createTestUser, testApp, testSettings } from "../helpers/app.ts";
import { signUp } from "../helpers/tokens.ts";

const { app, config, db, owner, url } = await testApp();
const periodStart = new Date(Date.UTC(2040, 0, 1));
const periodEnd = new Date(Date.UTC(2040, 1, 1));

async function spendSome(userId: string): Promise<void> {
  const period = { subscriptionId: `sub_${userId}`, periodStart, periodEnd, rollsOver: false };
  await grantPeriod(db, { userId, ...period, credits: 100 });
  await debit(db, { userId, amount: 7, key: `debit:${userId}`, reference: { mediaId: "m1" } });
  await refund(db, { key: `debit:${userId}` });
}

interface Answer {
  balance: number;
  periodEnd: string;
  entries: { id: string; kind: string; amount: number; balanceAfter: number; reference: object }[];
  next: string | null;
}

test("GET /v1/credits shows balance, end of the period and every change, newest first", async () => {
  const { userId, key } = await createTestUser(db);
  await spendSome(userId);
  const answer = await app.inject({ url: "/v1/credits", headers: { "svc-api-key": key } });
  assert.equal(answer.statusCode, 200);
  const { entries, ...rest } = answer.json<Answer>();
  assert.deepEqual(rest, { balance: 100, periodEnd: periodEnd.toISOString(), next: null });
  assert.deepEqual(
    entries.map(({ kind, amount, balanceAfter }) => [kind, amount, balanceAfter]),
    [
      ["refund", 7, 100],
      ["debit", -7, 93],
      ["grant", 100, 100],
    ],
  );
  assert.deepEqual(
    entries.map((entry) => entry.reference),
    [
      { mediaId: "m1", refundOf: entries[1]?.id },
      { mediaId: "m1" },
      {
        subscriptionId: `sub_${userId}`,
        periodStart: periodStart.toISOString(),
        periodEnd: periodEnd.toISOString(),
      },
    ],
  );
});

test("GET /v1/credits goes on where the page before ended", async () => {
  const { userId, key } = await createTestUser(db);
  await spendSome(userId);
  const headers = { "svc-api-key": key };
  const first = (await app.inject({ url: "/v1/credits?limit=2", headers })).json<Answer>();
  const rest = await app.inject({ url: `/v1/credits?limit=2&cursor=${first.next}`, headers });
  const kinds = [...first.entries, ...rest.json<Answer>().entries].map((entry) => entry.kind);
  assert.deepEqual(kinds, ["refund", "debit", "grant"]);
  assert.equal(rest.json<Answer>().next, null);
});

test("GET /v1/credits refuses a cursor or limit that is none with 400", async () => {
  const { key } = await createTestUser(db);
  const headers = { "svc-api-key": key };
  for (const query of [
    "cursor=x",
    "cursor=-1",
    `cursor=${"9".repeat(19)}`,
    "limit=0",
    "limit=101",
  ]) {
    const answer = await app.inject({ url: `/v1/credits?${query}`, headers });
    assert.equal(answer.statusCode, 400, query);
  }
});

test("nobody sees another user's credits, and without a key there is 401", async () => {
  const [rich, poor] = [await createTestUser(db), await createTestUser(db)];
  await spendSome(rich.userId);
  const answer = await app.inject({ url: "/v1/credits", headers: { "svc-api-key": poor.key } });
  assert.deepEqual(answer.json(), { balance: 0, periodEnd: null, entries: [], next: null });
  assert.equal((await app.inject({ url: "/v1/credits" })).statusCode, 401);
});

test("GET /api/v1/credits shows a signed-in user the same", async () => {
  const { token, userId } = await signUp(app, config.urls.web);
  await spendSome(userId);
  const headers = { authorization: `Bearer ${token}` };
  const answer = await app.inject({ url: "/api/v1/credits", headers });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.json<Answer>().balance, 100);
  assert.equal((await app.inject({ url: "/api/v1/credits" })).statusCode, 401);
});

/** `npm run credits:check`, as an operator runs it. */
async function check(): Promise<{ code: number; lines: string[] }> {
  const program = new URL("../../src/check-credits.ts", import.meta.url).pathname;
  const env = { PATH: process.env["PATH"], ...testSettings(url) };
  return await new Promise((resolve) => {
    execFile(process.execPath, [program], { env }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, lines: stdout.trim().split("\n") }),
    );
  });
}

test("the check command ends with 0 on a right ledger, and with 1 and a line per difference on a wrong one", async () => {
  for (let index = 0; index < 450; index++)
    await adjust(db, { userId: `many_${index}`, amount: 1, key: `many:${index}`, reference: {} });
  const right = await check();
  assert.deepEqual([right.code, right.lines.length], [0, 1]);
  assert.match(right.lines[0] ?? "", /^\d+ entries of \d+ users: 0 differences$/);
  // One on the first, one on the last page of users.
  await owner.query(
    "update credit_balances set balance = 5 where user_id in ('many_0', 'many_99')",
  );
  const wrong = await check();
  assert.equal(wrong.code, 1);
  assert.deepEqual(wrong.lines.slice(0, 2), [
    "many_0: balance 5, but its entries add up to 1",
    "many_99: balance 5, but its entries add up to 1",
  ]);
  assert.match(wrong.lines[2] ?? "", /: 2 differences$/);
});
