import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { businessScene, keys, sampleOf } from "../helpers/business.ts";

const { app, owner, call, newBusiness } = await businessScene();
const functions = Object.keys(sampleOf(""));

for (const name of functions) {
  const extras = name === "updateUserPersona" ? { ok: false } : { success: false };

  test(`${name}: another method is 405 with Allow, before the key and the body`, async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"] as const) {
      const answer = await app.inject({ method, url: `/functions/${name}` });
      assert.deepEqual([answer.statusCode, answer.headers["allow"]], [405, "POST"], method);
      if (method === "HEAD") continue;
      assert.partialDeepStrictEqual(answer.json(), {
        ...extras,
        error: { code: "method_not_allowed" },
      });
    }
  });

  test(`${name}: a missing or wrong key is 403, before the body; both configured keys work`, async () => {
    const wrong = [
      "",
      "wrong",
      `${keys[0]} `,
      keys[0].toUpperCase(),
      keys.join(","),
      keys.join(", "),
    ];
    for (const key of [...wrong, [keys[0], keys[1]], [keys[0], keys[0]]]) {
      const { status, body } = await call(name, "{", { "x-api-key": key });
      assert.equal(status, 403, JSON.stringify(key));
      assert.partialDeepStrictEqual(body, {
        ...extras,
        error: { code: "forbidden", type: "authentication_error" },
      });
    }
    const bare = await app.inject({ method: "POST", url: `/functions/${name}`, payload: {} });
    assert.equal(bare.statusCode, 403);
    for (const key of keys) {
      const { status, body } = await call(name, "{", { "x-api-key": key });
      assert.equal(status, 400);
      assert.partialDeepStrictEqual(body, { ...extras, error: { code: "validation_error" } });
    }
  });
}

test("with no key configured everything is 403, also an empty key", async () => {
  const closed = await businessScene({ FUNCTIONS_KEYS: "" });
  for (const name of functions) {
    for (const key of ["", "undefined", keys[0]]) {
      const { status } = await closed.call(name, {}, { "x-api-key": key });
      assert.equal(status, 403, name);
    }
  }
});

test("600 calls a minute for each key by default; over it 429 for that key alone; 0 is no limit", async () => {
  const limited = await businessScene({ RATE_LIMIT_FUNCTIONS_MAX: "3" });
  const ask = async (key: string) => await limited.call("getCompanyById", {}, { "x-api-key": key });
  const statuses = (await Promise.all([1, 2, 3, 4].map(() => ask(keys[0])))).map(
    ({ status }) => status,
  );
  assert.deepEqual(statuses.sort(), [400, 400, 400, 429]);
  const refused = await ask(keys[0]);
  assert.deepEqual(
    [refused.body.success, refused.body.error?.code],
    [false, "rate_limit_exceeded"],
  );
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  assert.equal((await ask("wrong")).status, 403);
  assert.equal((await ask(keys[1])).headers["x-ratelimit-remaining"], "2");
  const usual = await businessScene({ RATE_LIMIT_FUNCTIONS_MAX: "" });
  assert.equal((await usual.call("getCompanyById", {})).headers["x-ratelimit-limit"], "600");
  assert.equal((await call("getCompanyById", {})).headers["x-ratelimit-limit"], undefined);
});

test("each call is in the audit log with function, business and key, but not the key itself", async () => {
  const businessId = newBusiness();
  const samples = sampleOf(businessId);
  for (const name of functions) await call(name, samples[name] ?? {}, { "x-api-key": keys[1] });
  const { rows } = await owner.query<{ actor: string; action: string }>(
    "select actor, action from audit_log where subject = $1 order by id",
    [businessId],
  );
  const actor = `functions key ${hash("sha256", keys[1]).slice(0, 8)}`;
  assert.deepEqual(
    rows,
    functions.map((name) => ({ actor, action: `business.${name}` })),
  );
});

test("guessing keys is limited by address, and does not cost those who have one", async () => {
  const scene = await businessScene({ RATE_LIMIT_FUNCTIONS_MAX: "5" });
  const asWho = async (key: string): Promise<number> =>
    (await scene.call("getCompanyById", { businessId: "b" }, { "x-api-key": key })).status;
  const guesses = [];
  for (let count = 0; count < 7; count++) guesses.push(await asWho(`guess ${count}`));
  assert.deepEqual(guesses, [403, 403, 403, 403, 403, 429, 429]);
  assert.equal(await asWho(keys[0]), 404);
});
