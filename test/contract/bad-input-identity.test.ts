import assert from "node:assert/strict";
import { test } from "node:test";
import { identityCases } from "../helpers/cases/identity.ts";
import { hostileApp } from "../helpers/hostile.ts";

const { app, config, runAll, undocumented } = await hostileApp();
const { origin } = new URL(config.urls.web);

test("what the identity provider refuses is answered like every other error", async (t) => {
  await runAll(t, identityCases(origin));
});

test("who signs up can't say what is not theirs to say", async () => {
  const email = `${crypto.randomUUID()}@users.example`;
  const answer = await app.inject({
    method: "POST",
    url: "/api/auth/sign-up/email",
    headers: { origin },
    payload: {
      name: "Eve",
      email,
      password: "a long enough password",
      id: "chosen",
      emailVerified: true,
      role: "admin",
      createdAt: "2001-01-01T00:00:00Z",
    },
  });
  if (answer.statusCode === 400) return;
  const { user } = answer.json<{ user: Record<string, unknown> }>();
  assert.equal(user["emailVerified"], false);
  assert.notEqual(user["id"], "chosen");
  assert.equal("role" in user, false);
  assert.ok(Date.now() - Date.parse(String(user["createdAt"])) < 60_000);
});

test("the identity provider answers nothing that the reference does not name", () => {
  assert.deepEqual([...undocumented].sort(), []);
});
