import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { pino } from "pino";
import { createOutbound, OutboundError } from "./index.ts";
import type { OutboundFailure, WasSent } from "./index.ts";
import { selfSigned } from "./self-signed.testing.ts";
import { wasSent } from "./was-sent.ts";

const lines: string[] = [];
const log = pino({ level: "trace" }, { write: (line: string) => lines.push(line) });
const { send } = createOutbound({ log });
const limits = { timeoutMs: 2_000, maxBytes: 1_000 };
const post = { ...limits, method: "POST", body: '{"text":"é"}' };

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://${await listen(createServer(listener))}`;

async function closedPort(): Promise<string> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `127.0.0.1:${port}`;
}

async function failureOf(call: Promise<unknown>): Promise<OutboundError> {
  const error = await call.then(
    () => assert.fail("the call succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof OutboundError);
  return error;
}

async function assertFails(
  call: Promise<unknown>,
  failure: OutboundFailure,
  sent: WasSent,
): Promise<void> {
  const error = await failureOf(call);
  assert.deepEqual([error.failure, error.wasSent], [failure, sent]);
}

for (const status of [200, 201, 204, 302, 307, 400, 401, 404, 422, 429, 500, 503]) {
  test(`an answer with ${status} comes back with its headers and body`, async () => {
    const url = await serve((_request, response) =>
      response.writeHead(status, { "X-Restli-Id": "a", location: "/b" }).end("said"),
    );
    const { headers, ...answer } = await send(url, post);
    assert.deepEqual(answer, { status, body: status === 204 ? "" : "said", cutShort: null });
    assert.equal(headers["x-restli-id"], "a");
  });
}

test("a body goes out byte for byte, with its length", async () => {
  const seen: unknown[] = [];
  const url = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { "content-length": length, "transfer-encoding": encoding } = request.headers;
      seen.push([Buffer.concat(chunks).toString("hex"), length, encoding]);
      response.end();
    });
  });
  for (let call = 0; call < 2; call += 1) await send(url, post);
  const sent = [Buffer.from(post.body).toString("hex"), "13", undefined];
  assert.deepEqual(seen, [sent, sent]);
});

test("a body over the cap is cut and says so", async () => {
  const url = await serve((_request, response) => response.writeHead(201).end("x".repeat(5_000)));
  const { status, body, cutShort } = await send(url, post);
  assert.deepEqual([status, body.length, cutShort?.failure], [201, 1_000, "too_large"]);
});

test("a status that arrived is told although the rest of the answer was lost", async () => {
  const url = await serve((request, response) => {
    response.writeHead(201, { "x-restli-id": "a", "content-length": 100 }).write("begin");
    request.on("end", () => {
      if (request.url === "/reset") request.socket.resetAndDestroy();
    });
    request.resume();
  });
  const reset = await send(`${url}/reset`, post);
  assert.deepEqual([reset.status, reset.headers["x-restli-id"]], [201, "a"]);
  assert.deepEqual([reset.cutShort?.failure, reset.cutShort?.wasSent], ["network", true]);
  const hung = await send(`${url}/hang`, { ...post, timeoutMs: 100 });
  assert.deepEqual([hung.status, hung.body, hung.cutShort?.failure], [201, "begin", "timeout"]);
});

test("nothing was sent: the connection was refused", async () => {
  await assertFails(send(`http://${await closedPort()}`, post), "network", false);
});

test("nothing was sent: the name does not exist", async () => {
  // Too long for any name server to be asked.
  await assertFails(send(`http://${"a".repeat(64)}.invalid/`, post), "network", false);
});

test("nothing was sent: the certificate is not trusted", async () => {
  let requests = 0;
  const server = createTlsServer(selfSigned, (_request, response) => {
    requests += 1;
    response.end();
  });
  await assertFails(send(`https://${await listen(server)}`, post), "network", false);
  assert.equal(requests, 0);
});

test("nothing was sent: the address or a header can't be used", async () => {
  await assertFails(send("no address", post), "address", false);
  await assertFails(send("file:///etc/hostname", limits), "address", false);
  await assertFails(send("http://user:word@127.0.0.1/", post), "address", false);
  await assertFails(
    send("http://127.0.0.1/", { ...post, headers: { a: "b\nc" } }),
    "request",
    false,
  );
});

test("nothing was sent only if that holds for every address of a name", () => {
  const refused = Object.assign(new Error(), { code: "ECONNREFUSED", syscall: "connect" });
  const reset = Object.assign(new Error(), { code: "ECONNRESET", syscall: "read" });
  const failed = (errors: Error[]): Error => new Error("", { cause: new AggregateError(errors) });
  assert.equal(wasSent(failed([refused, refused])), false);
  assert.equal(wasSent(failed([refused, reset])), "maybe");
  assert.equal(wasSent(failed([])), "maybe");
  assert.equal(wasSent(new Error("", { cause: { code: "ECONNREFUSED" } })), "maybe");
});

test("it may have been sent: the connection broke, and it is not sent again", async () => {
  for (const end of ["resetAndDestroy", "destroy"] as const) {
    let requests = 0;
    const url = await serve((request) => {
      requests += 1;
      request.resume().once("end", () => request.socket[end]());
    });
    await assertFails(send(url, post), "network", "maybe");
    assert.equal(requests, 1);
  }
});

test("it may have been sent: a kept connection was closed, and it is not sent again", async () => {
  let requests = 0;
  const url = await serve((request, response) => {
    requests += 1;
    request.resume();
    if (requests === 1) response.end();
    else request.socket.resetAndDestroy();
  });
  await send(url, post);
  await assertFails(send(url, post), "network", "maybe");
  assert.equal(requests, 2);
});

test("it may have been sent: no answer came in time", async () => {
  const url = await serve(() => {});
  await assertFails(send(url, { ...post, timeoutMs: 50 }), "timeout", "maybe");
});

test("it may have been sent: the answer is not HTTP", async () => {
  const server = createTcpServer((socket) =>
    socket.once("data", () => socket.end("220 hello\r\n")),
  );
  await assertFails(send(`http://${await listen(server)}`, post), "network", "maybe");
});

test("what is not a read is not repeated after 421", async () => {
  const seen: unknown[] = [];
  const url = await serve((request, response) => {
    assert.equal(request.headers["transfer-encoding"], undefined);
    seen.push(request.method);
    request.resume();
    response.writeHead(421).end();
  });
  for (const method of ["POST", "PUT", "DELETE"]) {
    assert.equal((await send(url, { ...limits, method })).status, 421);
  }
  assert.equal((await send(url, post)).status, 421);
  assert.deepEqual(seen, ["POST", "PUT", "DELETE", "POST"]);
});

test("no secret of a call is logged or told, not even an unusable one", async () => {
  const secret = "canary-19c2";
  const headers = { authorization: `Bearer ${secret}` };
  const url = await serve((_request, response) => response.end("x".repeat(5_000)));
  const told = [
    (await send(`${url}/?token=${secret}`, { ...post, headers, body: secret })).cutShort,
    await failureOf(send(`http://${await closedPort()}/?${secret}`, { ...post, headers })),
    await failureOf(send(url, { ...post, headers: { authorization: `a\n${secret}` } })),
    await failureOf(send(`http://user:${secret}@127.0.0.1/`, post)),
  ];
  assert.ok(lines.length >= told.length);
  assert.doesNotMatch(lines.join("") + inspect(told, { depth: 10 }), new RegExp(secret));
});
