import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

export interface RawAnswer {
  status: number;
  /** Lower-case names; a name sent twice has its values joined by a line break. */
  headers: Record<string, string>;
  body: string;
}

export interface RawConnection {
  socket: Socket;
  send(bytes: string | Buffer): void;
  /** The next whole answer; rejects when the connection ends or the time is over before it is there. */
  next(withinMs?: number): Promise<RawAnswer>;
  /** Resolves when the other side has ended the connection, whole answers or not. */
  closed(withinMs?: number): Promise<void>;
  /** What has arrived and is not part of an answer that `next` returned. */
  rest(): string;
  hangUp(): void;
}

function unchunk(text: string): { body: string; length: number } | undefined {
  let body = "";
  for (let at = 0; ;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (next > text.length) return undefined;
    if (size === 0) return { body, length: next };
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = next;
  }
}

/** One byte is one character here, so that lengths in bytes can be cut by index. */
function parseAnswer(text: string, isHead: boolean): { answer: RawAnswer; length: number } | null {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not an HTTP answer: ${text.slice(0, 200)}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(":")).toLowerCase();
    const value = line.slice(name.length + 1).trim();
    headers[name] = name in headers ? `${headers[name]}\n${value}` : value;
  }
  const from = headEnd + 4;
  const isBodiless = isHead || status < 200 || status === 204 || status === 304;
  const chunked = headers["transfer-encoding"] === "chunked" && !isBodiless;
  const unchunked = chunked ? unchunk(text.slice(from)) : undefined;
  if (chunked && !unchunked) return null;
  const length = unchunked?.length ?? (isBodiless ? 0 : Number(headers["content-length"] ?? 0));
  if (text.length < from + length) return null;
  const bytes = unchunked?.body ?? text.slice(from, from + length);
  const body = Buffer.from(bytes, "latin1").toString("utf8");
  return { answer: { status, headers, body }, length: from + length };
}

/** A client that sends any bytes and reads whatever comes back, well-formed or not. */
export async function connectRaw(url: string, isHead = false): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  // A reset is one way in which the other side ends a connection: `closed` and `next` report it.
  socket.on("error", () => socket.destroy());
  await once(socket, "connect");
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));

  /** Not `once`, which would throw the reset away together with what arrived before it. */
  const changed = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const done = (): void => {
        socket.off("data", done).off("close", done);
        signal.removeEventListener("abort", late);
        resolve();
      };
      const late = (): void => {
        socket.off("data", done).off("close", done);
        reject(new Error("the time is over"));
      };
      socket.once("data", done).once("close", done);
      signal.addEventListener("abort", late, { once: true });
    });
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async next(withinMs = 3_000) {
      const signal = AbortSignal.timeout(withinMs);
      for (;;) {
        const parsed = parseAnswer(received, isHead);
        if (parsed) {
          received = received.slice(parsed.length);
          return parsed.answer;
        }
        if (socket.destroyed) throw new Error(`no whole answer, only "${received.slice(0, 200)}"`);
        await changed(signal);
      }
    },
    async closed(withinMs = 3_000) {
      const signal = AbortSignal.timeout(withinMs);
      while (!socket.destroyed) await changed(signal);
    },
    rest: () => received,
    hangUp: () => void socket.destroy(),
  };
}
