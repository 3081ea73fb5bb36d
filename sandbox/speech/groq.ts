import type { Answer } from "../answer.ts";
import { refuse } from "./openai-refusals.ts";
import { openai } from "./openai.ts";
import type { Ask, Personality, Problem } from "./personality.ts";
import { durationUsage, languageName, plain, verbose } from "./shapes.ts";
import type { Transcript } from "./transcript.ts";

const models = new Set(["whisper-large-v3", "whisper-large-v3-turbo"]);
const formats = ["json", "text", "verbose_json"];

function refusal(problem: Problem): Answer {
  const type = "invalid_request_error";
  if (problem.kind === "too_large") {
    const error = { message: "Request Entity Too Large", type, code: "request_too_large" };
    return { status: 413, body: { error } };
  }
  if (problem.kind === "bad_key") {
    return {
      status: 401,
      body: { error: { message: "Invalid API Key", type, code: "invalid_api_key" } },
    };
  }
  return refuse(problem);
}

function answer(transcript: Transcript, ask: Ask): Answer {
  const given = plain(transcript, ask.format);
  if (given) return given;
  const body =
    ask.format === "verbose_json"
      ? verbose(transcript, ask, languageName(ask.language ?? transcript.language))
      : { text: transcript.text };
  const x_groq = { id: ask.requestId };
  return { status: 200, body: { ...body, usage: durationUsage(transcript.seconds), x_groq } };
}

export const groq: Personality = {
  ...openai,
  model: (name) =>
    models.has(name) ? { name, formats, minSeconds: 0.01, maxSeconds: Infinity } : undefined,
  refuse: refusal,
  answer,
  headers: (requestId) => ({ "x-request-id": requestId }),
};
