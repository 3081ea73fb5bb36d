import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../helpers/app.ts";
import { signUp } from "../helpers/tokens.ts";

test("a request that fails after its key was claimed leaves no record, and the key works afterwards", async () => {
  const { app, owner, config } = await testApp();
  const { token } = await signUp(app, config.urls.web);
  const create = async () =>
    await app.inject({
      method: "POST",
      url: "/v1/api-keys",
      headers: { authorization: `Bearer ${token}`, "idempotency-key": "again" },
      payload: { name: "x" },
    });
  await owner.query("revoke insert on audit_log from herald_service");
  assert.equal((await create()).statusCode, 500);
  assert.equal((await owner.query("select from idempotency_records")).rowCount, 0);
  assert.equal((await owner.query("select from api_keys")).rowCount, 0);
  await owner.query("grant insert on audit_log to herald_service");
  assert.equal((await create()).statusCode, 201);
  assert.equal((await owner.query("select from api_keys")).rowCount, 1);
});
