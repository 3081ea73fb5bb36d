import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { OutboundError } from "../outbound/index.ts";
import type { Answer, Send } from "../outbound/index.ts";
import { SpeechBusy, SpeechFailed } from "./failures.ts";
import { AudioUnreadable } from "./ffmpeg.ts";
import { readRefusal, readTranscript } from "./remote-answer.ts";
import type { HeardPiece, Refusal } from "./remote-answer.ts";

export interface RemoteSettings {
  url: string;
  apiKey: string;
  model: string;
}

export interface RemoteCall {
  path: string;
  /** With an extension, by which some servers judge the file. */
  fileName: string;
  contentType: string;
  seconds: number;
  model: string;
  language: string | undefined;
  signal: AbortSignal;
}

const maxAttempts = 3;
const maxAnswerBytes = 20 * 1_024 * 1_024;
const longestWaitSeconds = 30;

const nothing: HeardPiece = {
  text: "",
  segments: [],
  language: undefined,
  seconds: undefined,
  noSpeech: undefined,
  compressionRatio: undefined,
};

/** The form, streamed from the disk; its length is known beforehand. */
async function formOf({ path, fileName, contentType }: RemoteCall, fields: [string, string][]) {
  const boundary = `herald-${randomBytes(16).toString("hex")}`;
  const part = (head: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${head}`;
  const head = fields
    .map(([name, value]) => part(`name="${name}"\r\n\r\n${value}\r\n`))
    .join("")
    .concat(part(`name="file"; filename="${fileName}"\r\nContent-Type: ${contentType}\r\n\r\n`));
  const tail = `\r\n--${boundary}--\r\n`;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(head);
    yield* createReadStream(path);
    yield Buffer.from(tail);
  }
  const { size } = await stat(path);
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: { bytes: bytes(), sizeBytes: Buffer.byteLength(head) + size + Buffer.byteLength(tail) },
  };
}

function waitOf({ headers }: Answer, attempt: number): number {
  const asked = Number(headers["retry-after"]);
  return Number.isFinite(asked) && asked >= 0 ? asked : 0.5 * 4 ** attempt;
}

/** Null where another attempt may help: hearing changes nothing there, so a repeat costs time alone. */
function failureOf({ status }: Answer, { message, code }: Refusal): Error | null {
  if (status === 401 || status === 403 || status === 404 || code === "insufficient_quota")
    return new SpeechFailed("The speech provider is not set up rightly", {
      cause: new Error(`${status}: ${message}`),
    });
  if (status === 429 || status >= 500) return null;
  if (status === 400 || status === 415 || status === 422)
    return new AudioUnreadable(`the speech provider says: ${message.slice(0, 200)}`);
  return new SpeechFailed(`The speech provider refused: ${status}`);
}

/** One file, within the provider's limits, to one transcript. */
export async function callRemote(
  send: Send,
  { url, apiKey }: RemoteSettings,
  call: RemoteCall,
  format: "verbose_json" | "json" = "verbose_json",
): Promise<HeardPiece> {
  const fields: [string, string][] = [
    ["model", call.model],
    ["response_format", format],
    ...(call.language === undefined ? [] : [["language", call.language] as [string, string]]),
  ];
  let last: unknown;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    call.signal.throwIfAborted();
    const form = await formOf(call, fields);
    let waitSeconds = 0.5 * 4 ** attempt;
    try {
      const answer = await send(`${url.replace(/\/$/, "")}/audio/transcriptions`, {
        method: "POST",
        headers: { ...form.headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
        body: form.body,
        timeoutMs: 60_000 + 500 * call.seconds,
        maxBytes: maxAnswerBytes,
      });
      if (answer.status === 200 && !answer.cutShort) return readTranscript(answer.body);
      const refusal = readRefusal(answer);
      if (answer.status === 400 && /too.short|shorter than/i.test(refusal.message)) return nothing;
      if (answer.status === 400 && format !== "json" && /response_format/i.test(refusal.message))
        return await callRemote(send, { url, apiKey, model: call.model }, call, "json");
      const failure = answer.status === 200 ? null : failureOf(answer, refusal);
      if (failure) throw failure;
      last = new Error(`${answer.status}: ${refusal.message}`, { cause: answer.cutShort });
      waitSeconds = waitOf(answer, attempt);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      last = error;
    }
    if (waitSeconds > longestWaitSeconds)
      throw new SpeechBusy("The speech provider has too much to do", {
        cause: last,
        retryAfterSeconds: Math.ceil(waitSeconds),
      });
    if (attempt + 1 < maxAttempts)
      await pause(waitSeconds * 1_000, undefined, { signal: call.signal });
  }
  throw new SpeechFailed("The speech provider did not answer", { cause: last });
}
