import { Readable } from "node:stream";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import {
  fileAnswer,
  files,
  noSuchFile,
  patternBytes,
  wholeNumber,
  zeroBytes,
} from "./file-host-files.ts";
import type { StoredFile } from "./file-host-files.ts";
import type { Frame } from "./service.ts";

type Trouble = (file: StoredFile, query: URLSearchParams) => Answer;

/** A stream, because the frame corrects the length of anything whose size it knows. */
const streamed = (file: StoredFile, headers: Record<string, string> = {}): Answer => ({
  ...fileAnswer(file, headers),
  body: Readable.from([file.bytes]),
});

const lengthOffBy = (file: StoredFile, difference: number): Answer =>
  streamed(file, {
    "content-length": String(file.bytes.length + difference),
    connection: "close",
  });

function* endless(file: StoredFile): Generator<Buffer> {
  yield file.bytes;
  yield* patternBytes(Infinity);
}

async function* slowly(bytes: Buffer, stepBytes: number, everyMs: number): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < bytes.length; sent += stepBytes) {
    if (sent > 0) await sleep(everyMs, undefined, { ref: false });
    yield bytes.subarray(sent, sent + stepBytes);
  }
}

/** A file that ends too early, under the length of the whole. */
const firstPart: Trouble = (file, query) => {
  const after = wholeNumber(query, "after", Math.floor(file.bytes.length / 2));
  return {
    ...fileAnswer(file, { "content-length": String(file.bytes.length) }),
    body: file.bytes.subarray(0, after),
  };
};

/** Sends what the answer holds, then ends the connection under it. */
const cutWith =
  (end: "destroy" | "resetAndDestroy") =>
  async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    if (reply.statusCode !== 200) return payload;
    const { socket } = request.raw;
    async function* cut(): AsyncGenerator {
      if (payload !== undefined) yield payload;
      // The bytes leave at the end of this turn; a socket that is destroyed sooner takes them along.
      await turn();
      socket[end]();
    }
    return Readable.from(cut());
  };

const troubles: Record<string, [defaultFile: string, trouble: Trouble]> = {
  "wrong-type": [
    "page.html",
    (file, query) => fileAnswer(file, { "content-type": query.get("type") ?? "image/png" }),
  ],
  "length-too-large": [
    "picture.png",
    (file, query) => lengthOffBy(file, wholeNumber(query, "by", 1000)),
  ],
  "length-too-small": [
    "picture.png",
    (file, query) => lengthOffBy(file, -wholeNumber(query, "by", 10)),
  ],
  "length-missing": ["picture.png", (file) => streamed(file)],
  endless: ["picture.png", (file) => ({ ...fileAnswer(file), body: Readable.from(endless(file)) })],
  slow: [
    "picture.png",
    (file, query) => ({
      ...fileAnswer(file, { "content-length": String(file.bytes.length) }),
      body: Readable.from(
        slowly(file.bytes, wholeNumber(query, "bytes", 1), wholeNumber(query, "everyMs", 100)),
      ),
    }),
  ],
  // Compressed whether or not the caller said that it can read that.
  gzip: [
    "note.txt",
    (file) => ({
      ...fileAnswer(file, { "content-encoding": "gzip" }),
      body: gzipSync(file.bytes),
    }),
  ],
  "gzip-bomb": [
    "picture.png",
    (file, query) => ({
      ...fileAnswer(file, { "content-encoding": "gzip" }),
      body: Readable.from(zeroBytes(wholeNumber(query, "size", 10 * 1024 * 1024))).pipe(
        createGzip({ level: 9 }),
      ),
    }),
  ],
  empty: ["picture.png", (file) => ({ ...fileAnswer(file), body: undefined })],
};

/** Hosts that lie about a file, or do not let go of it, or let go too soon. `?file=` picks the file. */
export function troubleRoutes({ app, read }: Frame): void {
  const look = (name: string, defaultFile: string, trouble: Trouble) =>
    read(`filehost.${name}`, ({ query }: Call) => {
      const file = files.get(query.get("file") ?? defaultFile);
      return file ? trouble(file, query) : noSuchFile;
    });
  for (const [name, [defaultFile, trouble]] of Object.entries(troubles))
    app.get(`/${name}`, look(name, defaultFile, trouble));

  const reset = look("cut-reset", "picture.png", firstPart);
  app.get("/cut-reset", { onSend: cutWith("resetAndDestroy") }, reset);
  const close = look("cut-close", "picture.png", firstPart);
  app.get("/cut-close", { onSend: cutWith("destroy") }, close);
}
