import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { get, host, postWith } from "../helpers/cases/raw.ts";
import { hostileApp } from "../helpers/hostile.ts";
import { connectRaw } from "../helpers/raw-http.ts";
import type { RawAnswer, RawConnection } from "../helpers/raw-http.ts";
import { changedTables } from "../helpers/traces.ts";
import { isIdle, until } from "../helpers/until.ts";

interface Line {
  level: number;
  msg: string;
  route?: string;
}

const lines: Line[] = [];
const log = pino(
  { level: "info" },
  { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
);
const { app, deps, db, token, secrets, look, judge } = await hostileApp({}, log);
const url = await app.listen({ port: 0, host: "127.0.0.1" });
const post = postWith(token);
const body = '{"name":"cut"}';
const whole = post(`Content-Length: ${body.length}\r\n`, body);

const bodyStart = whole.indexOf("{");
const cuts = Array.from(whole, (_, at) => at).filter((at) => at >= bodyStart || at % 25 === 1);

async function counts(): Promise<number[]> {
  const { rows } = await db.query<{ keys: number; records: number; entries: number }>(
    `select (select count(*) from api_keys)::int as keys, (select count(*) from idempotency_records)::int as records,
            (select count(*) from audit_log where action = 'key.create')::int as entries`,
  );
  return rows.flatMap(({ keys, records, entries }) => [keys, records, entries]);
}

interface Slow {
  name: string;
  afterMs: number;
  outcome: Promise<{ answer: RawAnswer; tookMs: number }>;
}

/** Sends the beginning and then, for as long as it may, a little more every half second. */
async function trickle(name: string, first: string, more: string, afterMs: number): Promise<Slow> {
  const connection = await connectRaw(url);
  connection.send(first);
  const drip = setInterval(() => !connection.socket.destroyed && connection.send(more), 500);
  connection.socket.once("close", () => clearInterval(drip));
  const outcome = connection.next(afterMs + 10_000).then(async (answer) => {
    const tookMs = performance.now() - startedAt;
    await connection.closed();
    return { answer, tookMs };
  });
  outcome.catch(connection.hangUp);
  return { name, afterMs, outcome };
}

// Started first and looked at last: they take as long as the service lets them.
const startedAt = performance.now();
const chunked = "Transfer-Encoding: chunked\r\n";
const slow = await Promise.all([
  trickle("sends nothing", "", "", 10_000),
  trickle("stops within the first line", "GET /hea", "", 10_000),
  trickle("sends a header at a time", `GET /health HTTP/1.1\r\n${host}`, "X: y\r\n", 10_000),
  trickle("sends a letter at a time", `GET /health HTTP/1.1\r\n${host}X: `, "y", 10_000),
  trickle("stops within the body", post("Content-Length: 1000\r\n", "{"), "", 30_000),
  trickle("sends a byte of the body at a time", post("Content-Length: 1000\r\n", "{"), " ", 30_000),
  trickle("sends a chunk at a time", post(chunked, ""), "1\r\n \r\n", 30_000),
]);
const clinging = connect({
  port: Number(new URL(url).port),
  host: "127.0.0.1",
  allowHalfOpen: true,
});
clinging.on("data", () => {}).write("BROKEN\r\n\r\n");

test("200 connections that say nothing keep nobody waiting", async () => {
  const idle = await Promise.all(Array.from({ length: 200 }, async () => await connectRaw(url)));
  for (let i = 0; i < 20; i++) {
    const connection = await connectRaw(url);
    connection.send(get("/health"));
    assert.equal((await connection.next(1_000)).status, 200);
    connection.hangUp();
  }
  idle.forEach(({ hangUp }) => hangUp());
});

test("a client that never reads its answers gets no more of them than fit on the way", async () => {
  const connection = await connectRaw(url);
  connection.socket.pause();
  const asked = 1_000;
  connection.send(get("/openapi.json").repeat(asked));
  const answered = (): number => lines.filter(({ route }) => route === "/openapi.json").length;
  let before = -1;
  await until(async () => {
    const isStill = answered() === before && before > 0;
    before = answered();
    await pause(200);
    return isStill;
  });
  assert.ok(answered() < asked / 4, `${answered()} of ${asked}`);
  connection.hangUp();
});

const endings: Record<string, (connection: RawConnection) => void> = {
  "hangs up": ({ socket }) => socket.destroySoon(),
  "resets the connection": ({ socket }) => void socket.resetAndDestroy(),
};

for (const [name, end] of Object.entries(endings)) {
  test(`a client that ${name} within a request has asked for nothing`, async () => {
    await until(() => isIdle(deps.db));
    const before = await look();
    lines.length = 0;
    for (const at of cuts) {
      const connection = await connectRaw(url);
      const isArriving = at >= bodyStart ? once(app.server, "request") : pause(1);
      connection.send(whole.slice(0, at));
      await isArriving;
      // Some at once, some when the caller is known and the body is waited for.
      await pause(at % 3 ? 20 : 0);
      end(connection);
      await connection.closed();
    }
    await until(() => isIdle(deps.db));
    assert.deepEqual(changedTables(before, await look()), []);
  });

  test(`a client that ${name} within a request is no failure of ours`, () => {
    const failures = lines.filter(({ level }) => level >= 50);
    assert.deepEqual(failures.slice(0, 1), [], `${failures.length} errors in the log`);
  });

  test(`a client that ${name} before the answer finds the whole effect or none`, async () => {
    await until(() => isIdle(deps.db));
    const before = await counts();
    const keys = Array.from({ length: 40 }, () => crypto.randomUUID());
    const ask = (key: string): string =>
      post(`Idempotency-Key: ${key}\r\nContent-Length: ${body.length}\r\n`, body);
    await Promise.all(
      keys.map(async (key, i) => {
        const connection = await connectRaw(url);
        connection.send(ask(key));
        await pause(i / 2);
        end(connection);
        await connection.closed();
      }),
    );
    await until(() => isIdle(deps.db));
    const [made, recorded, audited] = (await counts()).map((count, i) => count - (before[i] ?? 0));
    assert.deepEqual([recorded, audited], [made, made]);
    for (const key of keys) {
      const connection = await connectRaw(url);
      connection.send(ask(key));
      assert.equal((await connection.next()).status, 201);
      connection.hangUp();
    }
    const after = (await counts()).map((count, i) => count - (before[i] ?? 0));
    assert.deepEqual(after, [keys.length, keys.length, keys.length], "each was done once");
  });
}

test("who takes too long is told so and cut off: 10 s for the headers, 30 s for all", async (t) => {
  for (const { name, afterMs, outcome } of slow) {
    await t.test(`a client that ${name}`, async () => {
      const { answer, tookMs } = await outcome;
      assert.equal(answer.status, 408);
      judge({ method: "", path: null, secrets }, answer);
      // The service looks every two seconds; the rest is for a machine that is busy.
      const isInTime = tookMs > afterMs - 500 && tookMs < afterMs + 4_000;
      assert.ok(isInTime, `cut off after ${tookMs} ms`);
    });
  }
});

test("no connection is left, not even of a client that was refused and does not let go", async () => {
  await until(
    () =>
      new Promise((resolve) => app.server.getConnections((_error, open) => resolve(open === 0))),
    5_000,
  );
  assert.equal(clinging.readableEnded, true);
  clinging.destroy();
  await once(clinging, "close");
});
