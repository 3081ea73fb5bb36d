import { connect } from "node:net";

export interface WireAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** As it travelled: still in chunks, still compressed. */
  body: Buffer;
  /** How the host ended the connection; `left` when the caller did, having seen enough. */
  end: "closed" | "reset" | "left";
}

/** One GET over a bare socket that stays open until the host ends it, or until `enoughBytes` have come. */
export async function getOverSocket(url: string, enoughBytes = Infinity): Promise<WireAnswer> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(5000, () => socket.destroy(new Error(`not ended within 5 s: ${url}`)));
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  const pieces: Buffer[] = [];
  let end: WireAnswer["end"] = "closed";
  let failure: Error | undefined;
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    if (socket.bytesRead < enoughBytes) return;
    end = "left";
    socket.destroy();
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET") end = "reset";
    else failure = error;
  });
  // `events.once` would reject on the error that is one of the awaited ends.
  await new Promise((resolve) => socket.once("close", resolve));
  if (failure) throw failure;
  return { ...parse(Buffer.concat(pieces)), end };
}

function parse(wire: Buffer): Omit<WireAnswer, "end"> {
  const headEnd = wire.indexOf("\r\n\r\n");
  if (headEnd < 0) throw new Error(`no whole head in ${wire.length} bytes`);
  const [statusLine = "", ...fields] = wire.toString("latin1", 0, headEnd).split("\r\n");
  const headers = fields.map((field) => {
    const colon = field.indexOf(":");
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: wire.subarray(headEnd + 4),
  };
}
