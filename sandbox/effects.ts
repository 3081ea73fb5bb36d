import { STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { FastifyReply } from "fastify";
import { encode, send } from "./answer.ts";
import type { Answer } from "./answer.ts";
import type { Fault, Faults } from "./faults.ts";

/** What the client is told instead of the service's answer; undefined when the fault only holds or slows it. */
function scriptedAnswer(fault: Fault, answer: Answer): Answer | undefined {
  switch (fault.effect) {
    case "fail":
      return fault;
    case "rate_limit": {
      const retryAfter: Answer["headers"] =
        fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter };
      return {
        status: 429,
        headers: { ...retryAfter, ...fault.headers },
        body: fault.body ?? { error: "too many requests" },
      };
    }
    case "strip":
      return stripped(fault, answer);
    case "malformed":
      return malformed(fault);
    default:
      return undefined;
  }
}

function stripped({ headers, body }: Fault & { effect: "strip" }, answer: Answer): Answer {
  const unwanted = new Set(headers.map((name) => name.toLowerCase()));
  const kept = Object.entries(answer.headers ?? {}).filter(
    ([name]) => !unwanted.has(name.toLowerCase()),
  );
  return {
    status: answer.status,
    headers: Object.fromEntries(kept),
    ...(body ? {} : { body: answer.body }),
  };
}

function malformed({ kind, status, sizeBytes }: Fault & { effect: "malformed" }): Answer {
  const json = { "content-type": "application/json" };
  if (kind === "garbage") return { status, headers: json, body: '{"id": "12\u0000\ufffd' };
  if (kind === "large")
    return { status, headers: json, body: `{"padding":"${"x".repeat(sizeBytes)}"}` };
  return {
    status,
    headers: { "content-type": "text/html" },
    body: "<!doctype html><title>Error</title><h1>Something went wrong</h1><script>alert(1)</script>",
  };
}

/** Answers the call the way the fault says. `answer` is what would have been sent without it. */
export async function carryOut(
  fault: Fault,
  faults: Faults,
  reply: FastifyReply,
  answer: Answer,
): Promise<void> {
  if (fault.effect === "delay") {
    await faults.delay(fault.ms);
    return await send(reply, answer);
  }
  const instead = scriptedAnswer(fault, answer);
  const isBodyUsed = fault.effect === "trickle" || instead?.body === answer.body;
  if (!isBodyUsed && answer.body instanceof Readable) answer.body.destroy();
  if (instead) return await send(reply, instead);

  const { socket } = reply.request.raw;
  reply.hijack();
  if (fault.effect === "reset") {
    socket.resetAndDestroy();
    return;
  }
  faults.hold(socket);
  if (fault.effect !== "trickle") return;
  const bytes = await wireBytes(answer);
  for (let sent = 0; sent < bytes.length && !socket.destroyed; sent += fault.bytes) {
    socket.write(bytes.subarray(sent, sent + fault.bytes));
    await faults.delay(fault.everyMs);
  }
  socket.end();
}

/** The answer as it travels, so that even one without a body can be slow. */
async function wireBytes(answer: Answer): Promise<Buffer> {
  const { status, headers, body } = encode(answer);
  const bytes = body instanceof Readable ? await buffer(body) : body;
  const fields = Object.entries({
    ...headers,
    "content-length": String(bytes.length),
    connection: "close",
  })
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`))
    .join("");
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${fields}\r\n`),
    bytes,
  ]);
}
