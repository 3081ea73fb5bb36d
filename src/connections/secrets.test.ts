import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { Browser, goodReply, json, stateIn, testConnections } from "./connections.testing.ts";
import { openAccount } from "./index.ts";

const lines: string[] = [];
const log = pino({ level: "trace" }, { write: (line: string) => lines.push(line) });
const { app, db, deps, config, platform } = await testConnections({}, { log });
const codes = ["canary-code-1", "canary-code-2", "canary-code-3"];

test("no token, code, state, cookie or client secret gets into a log line, an answer or a row", async () => {
  const browser = new Browser(app);
  const { userId } = await browser.signUp(config.urls.web);
  const said: string[] = [];
  const states: string[] = [];
  const tokens = {
    ...goodReply,
    access_token: "canary-access",
    refresh_token: "canary-refresh",
    expires_in: 1,
  };
  const answers = [
    () => (platform.token = (_asked, response) => json(response, 200, tokens)),
    () => (platform.token = (_asked, response) => json(response, 400, { error: "invalid_grant" })),
    () => (platform.token = (_asked, response) => json(response, 200, { access_token: 1 })),
  ];
  for (const [index, answer] of answers.entries()) {
    answer();
    const state = stateIn(await browser.ask("/functions/twitterAuthStart"));
    states.push(state);
    const url = `/functions/twitterAuthCallback?code=${codes[index]}&state=${state}`;
    for (const { body, headers } of [await browser.ask(url), await browser.ask(url)])
      said.push(body, JSON.stringify(headers));
  }
  const [account] = (await db.query("select account_id as id from connected_accounts")).rows;
  platform.token = (_asked, response) => json(response, 400, { error: "invalid_grant" });
  const key = { userId, platform: "twitter", accountId: account.id } as const;
  const later = { now: () => new Date(Date.now() + 60_000) };
  await assert.rejects(openAccount({ ...deps, clock: later }, key), /connected again/);
  said.push((await app.inject({ url: "/v1/accounts" })).body);

  const { rows } = await db.query(
    `select a::text as row from connected_accounts a union all select s::text from connection_states s
     union all select l::text from audit_log l`,
  );
  const everything = [...lines, ...said, ...rows.map(({ row }) => row)].join("\n");
  assert.ok(lines.some((line) => line.includes("an account was not connected")));
  assert.ok(lines.some((line) => line.includes("no new tokens")));
  const secrets = [
    "canary-access",
    "canary-refresh",
    ...codes,
    ...states,
    "s&cret:1",
    "s%26cret",
    Buffer.from("client+id:s%26cret%3A1").toString("base64"),
    ...platform.tokenForms().flatMap((form) => form["code_verifier"] ?? []),
  ];
  assert.ok(secrets.length >= 12);
  for (const secret of secrets) assert.ok(!everything.includes(secret), secret);
  const cookie = browser.cookies.get("connection") ?? assert.fail("there is a cookie");
  assert.ok(![...lines, ...rows.map(({ row }) => row)].join("\n").includes(cookie));
});
