import { mkdir, rm, stat } from "node:fs/promises";
import type { Send } from "../outbound/index.ts";
import { compress, split } from "./compress.ts";
import type { Piece } from "./compress.ts";
import { callRemote } from "./remote-call.ts";
import type { RemoteSettings } from "./remote-call.ts";
import type { HeardPiece } from "./remote-answer.ts";
import type { Heard, Speech, SpeechRequest } from "./speech.ts";

// Of 26,214,400 bytes, with room for the form around the file.
const maxFileBytes = 24 * 1_024 * 1_024;
// Some models stop at 1,400 seconds, and long calls fail more often than short ones.
const maxSeconds = 1_300;
// Providers judge a file by its extension; `.opus` is not among those they know.
const taken = new Set(["flac", "mp3", "mp4", "m4a", "ogg", "wav", "webm"]);

/** The file as it is where the provider takes it so, else its sound alone, in pieces where it is long. */
async function prepare(request: SpeechRequest, dir: string): Promise<Piece[]> {
  const { path, contentType, extension, seconds, signal } = request;
  const { size } = await stat(path);
  const isSound = contentType.startsWith("audio/") && taken.has(extension);
  if (isSound && size <= maxFileBytes && seconds > 0 && seconds <= maxSeconds)
    return [{ path, startSeconds: 0 }];
  await mkdir(dir, { recursive: true });
  const small = `${dir}/sound.ogg`;
  await compress(path, { path: small }, { signal });
  const { size: smallSize } = await stat(small);
  if (seconds > 0 && seconds <= maxSeconds && smallSize <= maxFileBytes)
    return [{ path: small, startSeconds: 0 }];
  return await split(small, maxSeconds, { dir }, { signal });
}

function join(
  pieces: { piece: Piece; heard: HeardPiece }[],
  request: SpeechRequest,
  model: string,
): Heard {
  const segments = pieces.flatMap(({ piece, heard }) =>
    heard.segments.map(({ start, end, text }) => ({
      start: start + piece.startSeconds,
      end: end + piece.startSeconds,
      text,
    })),
  );
  const last = pieces.at(-1);
  const measured = (last?.piece.startSeconds ?? 0) + (last?.heard.seconds ?? 0);
  const highest = (values: (number | undefined)[]): number =>
    Math.max(0, ...values.filter((value) => value !== undefined));
  return {
    text: pieces
      .map(({ heard }) => heard.text)
      .filter(Boolean)
      .join(" "),
    segments,
    language:
      request.language ?? pieces.find(({ heard }) => heard.language)?.heard.language ?? "und",
    seconds: Math.max(measured, request.seconds),
    model,
    hints: {
      noSpeech: highest(pieces.map(({ heard }) => heard.noSpeech)),
      compressionRatio: highest(pieces.map(({ heard }) => heard.compressionRatio)),
    },
  };
}

/** Any service that speaks OpenAI's `POST /audio/transcriptions`. */
export function createRemoteSpeech(send: Send, settings: RemoteSettings): Speech {
  return {
    models: null,
    languages: null,
    async transcribe(request) {
      const { path, contentType, extension, language, signal } = request;
      const model = request.model ?? settings.model;
      const dir = `${path}.pieces`;
      try {
        const pieces = await prepare(request, dir);
        const all: { piece: Piece; heard: HeardPiece }[] = [];
        for (const piece of pieces) {
          const isWhole = piece.path === path;
          const file = isWhole
            ? { fileName: `audio.${extension}`, contentType }
            : { fileName: "audio.ogg", contentType: "audio/ogg" };
          const call = {
            ...file,
            path: piece.path,
            seconds: request.seconds,
            model,
            language,
            signal,
          };
          all.push({ piece, heard: await callRemote(send, settings, call) });
        }
        return join(all, request, model);
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    },
    close: async () => await Promise.resolve(),
  };
}
