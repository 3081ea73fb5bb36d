import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addressCases, nulAddressCases } from "../helpers/cases/addresses.ts";
import { framingCases } from "../helpers/cases/raw-framing.ts";
import { headerLineCases, lineCases } from "../helpers/cases/raw-lines.ts";
import { requestCases } from "../helpers/cases/raw-requests.ts";
import { postWith } from "../helpers/cases/raw.ts";
import type { RawCase } from "../helpers/cases/raw.ts";
import { hostileApp } from "../helpers/hostile.ts";
import { connectRaw } from "../helpers/raw-http.ts";
import { changedTables } from "../helpers/traces.ts";

const { app, token, secrets, look, judge, undocumented } = await hostileApp();
const url = await app.listen({ port: 0, host: "127.0.0.1" });
const post = postWith(token);

async function run({ bytes, expect, orElse, route, isClosed }: RawCase): Promise<void> {
  const before = await look();
  const [method, path] = route ?? ["", null];
  const connection = await connectRaw(url);
  try {
    for (const part of [bytes].flat()) {
      connection.send(part);
      // Lets each part travel on its own.
      await new Promise(setImmediate);
    }
    const statuses = [expect].flat();
    for (const status of statuses) {
      const answer = await connection.next();
      const isExpected = answer.status === status || answer.status === orElse;
      assert.ok(isExpected, `${answer.status}, not ${status}: ${answer.body.slice(0, 300)}`);
      if (status > 100) judge({ method, path, secrets }, answer);
    }
    if (isClosed) {
      await connection.closed();
    } else {
      connection.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assert.equal((await connection.next()).body, '{"isAlive":true}', "the next request");
    }
    assert.equal(connection.rest(), "", "nothing follows the answers");
    if (!statuses.includes(201)) assert.deepEqual(changedTables(before, await look()), []);
  } finally {
    connection.hangUp();
  }
}

const groups: Record<string, RawCase[]> = {
  "a body whose end is in doubt": framingCases(post),
  "a line that is not HTTP": lineCases(),
  "headers that are not HTTP, too many or too large": headerLineCases(),
  "a request that is odd but HTTP": requestCases(post),
  "an address in any spelling": addressCases(token),
  "an address with a NUL": nulAddressCases(token),
};

let count = 0;
for (const [group, cases] of Object.entries(groups)) {
  test(`${group}: answered as documented, and the connection is closed or in step`, async (t) => {
    const failures: string[] = [];
    for (const each of cases)
      await run(each).catch((error: Error) => failures.push(`${each.name}: ${error.message}`));
    count += cases.length;
    t.diagnostic(`${cases.length} cases`);
    const shown = failures.slice(0, 10).join("\n");
    assert.equal(failures.length, 0, `${failures.length} of ${cases.length} failed:\n${shown}`);
  });
}

test("a tunnel is not opened: the connection is closed", async () => {
  for (const target of ["localhost:443", "/v1/me", "*"]) {
    const connection = await connectRaw(url);
    connection.send(`CONNECT ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await connection.closed();
  }
});

test("on the wire, too, no route answers a status that the reference does not name", () => {
  assert.deepEqual([...undocumented].sort(), []);
});

after(() => process.stdout.write(`# raw HTTP: ${count} cases\n`));
