import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { createTestUser, testApp } from "../helpers/app.ts";
import { signUp } from "../helpers/tokens.ts";

const { app, db, owner, config } = await testApp();

interface Keys {
  keys: {
    id: string;
    name: string | null;
    createdAt: string;
    revokedAt: string | null;
    tokenPreview: string;
  }[];
}

for (const prefix of ["/v1", "/api/v1"]) {
  const { token, userId } = await signUp(app, config.urls.web);
  const authorization = `Bearer ${token}`;
  const create = async (payload: object = {}, headers: Record<string, string> = {}) =>
    await app.inject({
      method: "POST",
      url: `${prefix}/api-keys`,
      headers: { authorization, ...headers },
      payload,
    });
  const list = async () =>
    (await app.inject({ url: `${prefix}/api-keys`, headers: { authorization } })).json<Keys>().keys;
  const revoke = async (id: string) =>
    await app.inject({
      method: "DELETE",
      url: `${prefix}/api-keys/${id}`,
      headers: { authorization },
    });

  test(`${prefix}: a new key has the contract's form, is shown once and only its hash is stored`, async () => {
    const answer = await create({ name: "laptop" });
    assert.equal(answer.statusCode, 201);
    const { apiKey } = answer.json<{ apiKey: string }>();
    assert.match(apiKey, /^sk_live_[A-Za-z0-9_-]{32}$/);
    const { rows } = await owner.query<{ row: string }>(
      "select k::text as row from api_keys k where user_id = $1",
      [userId],
    );
    assert.equal(rows.length, 1);
    assert.ok(!rows[0]?.row.includes(apiKey));
    const [key] = await list();
    assert.equal(key?.id, hash("sha256", apiKey));
    assert.equal(key?.name, "laptop");
    assert.equal(key?.revokedAt, null);
    assert.equal(key?.tokenPreview, `sk_live_********${apiKey.slice(-4)}`);
  });

  test(`${prefix}: a name has 1 to 100 characters and may be left out, the body too`, async () => {
    assert.equal((await create({ name: "" })).statusCode, 400);
    assert.equal((await create({ name: "x".repeat(101) })).statusCode, 400);
    assert.equal((await create({ name: "x".repeat(100) })).statusCode, 201);
    assert.equal((await create({})).statusCode, 201);
    const bare = await app.inject({
      method: "POST",
      url: `${prefix}/api-keys`,
      headers: { authorization },
    });
    assert.equal(bare.statusCode, 201);
  });

  test(`${prefix}: revoking is immediate, keeps the record, and twice is once`, async () => {
    const { apiKey } = (await create()).json<{ apiKey: string }>();
    const id = hash("sha256", apiKey);
    assert.deepEqual(
      [(await revoke(id)).statusCode, (await revoke(id)).json()],
      [200, { revoked: true }],
    );
    assert.equal(
      (await app.inject({ url: "/v1/me", headers: { "svc-api-key": apiKey } })).statusCode,
      401,
    );
    assert.notEqual((await list()).find((key) => key.id === id)?.revokedAt, null);
  });

  test(`${prefix}: another user's key can't be revoked: 403 forbidden, and it goes on working`, async () => {
    const other = await createTestUser(db);
    const answer = await revoke(other.keyId);
    assert.deepEqual(
      [answer.statusCode, answer.json<{ error: { code: string } }>().error.code],
      [403, "forbidden"],
    );
    assert.equal(
      (await app.inject({ url: "/v1/me", headers: { "svc-api-key": other.key } })).statusCode,
      200,
    );
  });

  test(`${prefix}: an unknown key id: 404 not_found`, async () => {
    assert.equal((await revoke("0".repeat(64))).statusCode, 404);
  });

  test(`${prefix}: the same idempotency key makes one API key and gives the same answer again`, async () => {
    const headers = { "idempotency-key": `retry-${prefix}` };
    const before = (await list()).length;
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => await create({ name: "once" }, headers)),
    );
    assert.equal(new Set(answers.map((answer) => answer.body)).size, 1);
    assert.equal(
      answers.filter((answer) => answer.headers["idempotency-replayed"] === "true").length,
      19,
    );
    assert.equal((await list()).length, before + 1);
    const conflict = await create({ name: "other" }, headers);
    assert.deepEqual(
      [conflict.statusCode, conflict.json<{ error: { code: string } }>().error.code],
      [409, "idempotency_conflict"],
    );
  });

  test(`${prefix}: a refused request does not use up its idempotency key`, async () => {
    const headers = { "idempotency-key": `corrected-${prefix}` };
    assert.equal((await create({ name: "" }, headers)).statusCode, 400);
    assert.equal((await create({ name: "fine" }, headers)).statusCode, 201);
  });

  test(`${prefix}: the stored answer does not show the key to who reads the table`, async () => {
    const { apiKey } = (await create()).json<{ apiKey: string }>();
    const { rows } = await owner.query<{ row: string }>(
      "select r::text as row from idempotency_records r",
    );
    assert.ok(rows.length > 0 && rows.every(({ row }) => !row.includes(apiKey)));
  });
}

test("creating and revoking leave audit entries", async () => {
  const { rows } = await owner.query<{ action: string }>(
    "select distinct action from audit_log where action like 'key.%' order by action",
  );
  assert.deepEqual(
    rows.map((row) => row.action),
    ["key.create", "key.revoke"],
  );
});
