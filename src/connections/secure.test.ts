import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, testConnections } from "./connections.testing.ts";

const { app, config } = await testConnections({ BASE_URL: "https://herald.example" }, [
  "https://partner.example:8443/ignored",
]);
const user = await new Browser(app).signUp(config.urls.web);
const authorization = `Bearer ${user.token}`;
const start = async (returnTo: string) =>
  await app.inject({
    url: `/functions/networkAuthStart?returnTo=${encodeURIComponent(returnTo)}`,
    headers: { authorization },
  });

test("outside localhost the cookie is Secure and belongs to this very host", async () => {
  const { headers } = await start("/");
  assert.match(
    String(headers["set-cookie"]),
    /^__Host-connection=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const { searchParams } = new URL(String(headers.location));
  assert.equal(
    searchParams.get("redirect_uri"),
    "https://herald.example/functions/networkAuthCallback",
  );
});

test("a listed origin may be returned to, one that looks like it may not", async () => {
  assert.equal((await start("https://partner.example:8443/done?a=1")).statusCode, 302);
  for (const address of [
    "https://partner.example/done",
    "http://partner.example:8443/done",
    "https://partner.example.evil.example:8443/",
    "https://sub.partner.example:8443/",
    "https:partner.example:8443/",
    "https:evil",
  ]) {
    assert.equal((await start(address)).statusCode, 400, address);
  }
});
