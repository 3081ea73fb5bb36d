import type { FastifyRequest } from "fastify";
import type { Call } from "../call.ts";
import type { Decide, Frame, Service } from "../service.ts";
import { groq } from "./groq.ts";
import { openai } from "./openai.ts";
import type { Personality } from "./personality.ts";
import { changeSettings, settingsOf, settingsRoutes, stateOf } from "./settings.ts";
import type { Settings, Speech } from "./settings.ts";
import { speaches } from "./speaches.ts";
import { decide } from "./transcription.ts";
import { readUpload } from "./upload.ts";
import type { Upload } from "./upload.ts";
import { whispercpp } from "./whispercpp.ts";

const personalities: Readonly<Record<Settings["personality"], Personality>> = {
  openai,
  groq,
  whispercpp,
  speaches,
};

/**
 * Speech to text as OpenAI and its imitators serve it: base `/speech/v1`, key `sandbox-speech-key`.
 *
 *     transcribe  /speech/v1/audio/transcriptions  -F model=whisper-1 -F file=@audio.wav
 *     as Groq     /speech/openai/v1/audio/transcriptions, with its personality
 *     whisper.cpp /speech/inference                -F file=@audio.wav   (whatever the personality)
 *     health      /speech/health
 *     install     /speech/v1/models/{id}           (speaches: a model must be installed first)
 *     settings    /speech/_control                 {"personality": "groq", "transcripts": {"<sha256>": {"text": "Hi."}}}
 *
 * What a file says is known by its hash, else it is one sentence over and over. The journal's request body is a summary
 * of the form (fields, file name, size, hash), so a fault's `match` can name any of them.
 */
export const speech: Service = {
  name: "speech",
  basePath: "/speech",
  routes(frame) {
    const { app, operation, read } = frame;
    const state = stateOf(frame);
    const uploads = takeUploads(frame, state);
    const chosen = (): Personality => personalities[settingsOf(state).personality];
    const oneAtATime = queue();
    const transcription = (personalityNow: () => Personality) =>
      operation("speech.transcribe", async (call) => {
        const personality = personalityNow();
        const answer = () => decide(state, personality, call, uploads(call));
        return await (personality.isOneAtATime ? oneAtATime(answer) : answer());
      });
    app.post("/v1/audio/transcriptions", transcription(chosen));
    app.post("/openai/v1/audio/transcriptions", transcription(chosen));
    app.post(
      "/inference",
      transcription(() => whispercpp),
    );
    app.get(
      "/health",
      read("speech.health", () => ({ status: 200, body: { status: "ok" } })),
    );
    app.post("/v1/models/*", operation("speech.install", install(state)));
    settingsRoutes(frame, state);
    const unknown: Decide = ({ method, path }) => ({
      ...chosen().refuse({ kind: "no_such_path", method, path }),
      accepted: false,
    });
    app.all("/*", operation("speech.unknown", unknown));
  },
};

/** Forms are read as they arrive. What travels on in the call is their summary, the upload itself beside it. */
function takeUploads({ app, note }: Frame, state: Speech): (call: Call) => Upload {
  const uploads = new WeakMap<Buffer, Upload>();
  app.addContentTypeParser(/^multipart\/form-data\b/i, async (request: FastifyRequest) => {
    const { personality } = settingsOf(state);
    const isInference = request.routeOptions.url?.endsWith("/inference");
    const { capBytes } = isInference ? whispercpp : personalities[personality];
    const body = dropping(request, state, note);
    const upload = await readUpload(body, request.headers["content-type"] ?? "", capBytes);
    const summary = summaryOf(upload);
    uploads.set(summary, upload);
    return summary;
  });
  return ({ raw }) =>
    uploads.get(raw) ?? {
      bodyBytes: raw.length,
      isTooLarge: false,
      problem: "the body is not multipart/form-data",
      fields: new Map(),
    };
}

function summaryOf({ fields, file, ...facts }: Upload): Buffer {
  const { chunks: _chunks, ...fileFacts } = file ?? { chunks: [] };
  return Buffer.from(
    JSON.stringify({
      ...facts,
      fields: Object.fromEntries(fields),
      ...(file && { file: fileFacts }),
    }),
  );
}

/** The bytes of the body, until the connection is to be lost in the middle of them. */
async function* dropping(
  { raw }: FastifyRequest,
  state: Speech,
  note: Frame["note"],
): AsyncGenerator<Buffer> {
  let readBytes = 0;
  for await (const chunk of raw as AsyncIterable<Buffer>) {
    readBytes += chunk.length;
    const { dropUpload } = settingsOf(state);
    if (dropUpload && readBytes > dropUpload.afterBytes) {
      const { times } = dropUpload;
      changeSettings(state, { dropUpload: times > 1 ? { ...dropUpload, times: times - 1 } : null });
      await note("speech.transcribe", `upload dropped after ${readBytes} bytes`);
      raw.socket.resetAndDestroy();
    }
    yield chunk;
  }
}

const install =
  (state: Speech): Decide =>
  ({ params }) => {
    const { installedModels, personality } = settingsOf(state);
    if (personality !== "speaches")
      return { accepted: false, status: 404, body: { error: { message: "Not found" } } };
    const model = params["*"] ?? "";
    changeSettings(state, { installedModels: [...new Set([...installedModels, model])] });
    return { accepted: true, status: 201, body: `Model '${model}' downloaded` };
  };

/** Runs what it is given one after the other, in the order of the calls. */
function queue(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const turn = last.then(run);
    // The next one runs however this one ends; its caller hears of a failure.
    last = turn.catch(() => undefined);
    return turn;
  };
}
