import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../errors.ts";
import { Browser, testConnections } from "./connections.testing.ts";
import { createReturnTo, withOutcome } from "./return-to.ts";

const hostile = [
  ..."//evil //evil.example/ ///evil ////evil.example /\\evil /\\/evil \\\\evil \\evil /\\\\evil \\/evil".split(
    " ",
  ),
  ..."https:evil http:evil https:/evil http:/evil https:\\\\evil http:\\\\evil https:///evil http:///evil".split(
    " ",
  ),
  ..."http://evil http://evil:3000/ https://localhost:3000/ http://localhost/ http://localhost:3001/".split(
    " ",
  ),
  ..."http://localhost:30000/ http://localhost:3000.evil/ http://localhost.evil:3000/ http://evil.localhost:3000/".split(
    " ",
  ),
  ..."http://localhost:3000@evil/ http://localhost:3000%40evil/ http://evil@localhost:3000/ http://a:b@localhost:3000/".split(
    " ",
  ),
  ..."http://:b@localhost:3000/ http://localhost:3000\\@evil/ http://evil\\@localhost:3000/ http://evil#@localhost:3000/".split(
    " ",
  ),
  ..."http://evil?@localhost:3000/ javascript:alert(1) JaVaScRiPt:alert(1) javascript://localhost:3000/%0aalert(1)".split(
    " ",
  ),
  ..."data:text/html,hi data:,x vbscript:x file:///etc/passwd blob:http://localhost:3000/1 about:blank".split(
    " ",
  ),
  ..."ftp://localhost:3000/ ws://localhost:3000/ view-source:http://localhost:3000/ mailto:a@b intent://x#Intent;end".split(
    " ",
  ),
  ..."http://127.0.0.1:3000/ http://[::1]:3000/ http://0x7f000001:3000/ http://2130706433:3000/ http://localhost.:3000/".split(
    " ",
  ),
  ...".. . ? # @evil settings ../evil ./x ?a=1 #x evil.example %2f%2fevil %5cevil %09//evil".split(
    " ",
  ),
  "",
  " ",
  " /x",
  "/x ",
  "\t//evil",
  "/\t/evil",
  "/\n/evil",
  "/\r\n/evil",
  "/x\r\nlocation: http://evil",
  "/x\r\n\r\n<script>",
  "http://local\thost:3000/",
  "http://localhost:3000/\n",
  "java\tscript:alert(1)",
  "\u0001http://localhost:3000/",
  "/\u00a0x",
  "/\u2028x",
  "\ufeff/x",
  "http://localhost\u3002evil/",
  "http://localhost\uff0eevil:3000/",
  "http://\uff4cocalhost:3000/",
  "http://evil\uff0flocalhost:3000/",
  "http://localhost:3000\uff20evil/",
  "\uff0f\uff0fevil",
  "/\ud800",
  "http://localhost:3000/\u00e9",
];

test(`${hostile.length} hostile strings are 400, and leave no state behind`, async () => {
  assert.ok(hostile.length >= 60);
  const { app, db, config } = await testConnections();
  const { token } = await new Browser(app).signUp(config.urls.web);
  const headers = { authorization: `Bearer ${token}` };
  for (const returnTo of hostile) {
    // As bytes, so that half a surrogate pair travels too.
    const query = encodeURIComponent(returnTo.toWellFormed());
    const url = `/functions/networkAuthStart?returnTo=${query}`;
    const answer = await app.inject({ url, headers });
    assert.equal(answer.statusCode, 400, JSON.stringify(returnTo));
    const { error } = answer.json<{ error: { code: string; details: { field: string }[] } }>();
    assert.equal(error.code, "validation_error");
    assert.equal(error.details[0]?.field, "query.returnTo");
  }
  for (const query of [`returnTo=/a&returnTo=/b`, `returnTo=/${"a".repeat(2_048)}`]) {
    const answer = await app.inject({ url: `/functions/networkAuthStart?${query}`, headers });
    assert.equal(answer.statusCode, 400);
  }
  assert.equal((await db.query("select from connection_states")).rowCount, 0);
});

test("no hostile string is an address to return to", () => {
  const readReturnTo = createReturnTo("http://localhost:3000", []);
  for (const returnTo of [...hostile, "\0/x", "/x\0"])
    assert.throws(() => readReturnTo(returnTo), AppError, JSON.stringify(returnTo));
});

test("what is on the web app stays what it is", () => {
  const readReturnTo = createReturnTo("http://localhost:3000", []);
  const kept: Record<string, string> = {
    "/": "http://localhost:3000/",
    "/settings?a=1&b=%2F#list": "http://localhost:3000/settings?a=1&b=%2F#list",
    "http://localhost:3000": "http://localhost:3000/",
    "HTTP://LOCALHOST:3000/x": "http://localhost:3000/x",
    "http://localhost:3000/a?next=//evil": "http://localhost:3000/a?next=//evil",
    // Paths that look like hosts are no hosts in a whole address.
    "/..//evil": "http://localhost:3000//evil",
    "/.//evil": "http://localhost:3000//evil",
    "/%5cevil": "http://localhost:3000/%5cevil",
    "/%2f%2fevil": "http://localhost:3000/%2f%2fevil",
    "/@evil": "http://localhost:3000/@evil",
  };
  for (const [given, address] of Object.entries(kept)) assert.equal(readReturnTo(given), address);
});

test("default ports are no other origin", () => {
  const readReturnTo = createReturnTo("https://web.example/app", []);
  assert.equal(readReturnTo("https://web.example:443/x"), "https://web.example/x");
  assert.throws(() => readReturnTo("https://web.example:80/x"), AppError);
});

test("the outcome is added; other parameters and the fragment stay", () => {
  const address = "http://localhost:3000/settings?tab=a%20b&tab=c&network=old&reason=old#list";
  assert.equal(
    withOutcome(address, "network", null),
    "http://localhost:3000/settings?tab=a+b&tab=c&network=connected#list",
  );
  assert.equal(
    withOutcome(address, "network", "profile_failed"),
    "http://localhost:3000/settings?tab=a+b&tab=c&network=error&reason=profile_failed#list",
  );
});
