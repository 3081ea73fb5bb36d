import type { Answer } from "../answer.ts";
import { refuse } from "./openai-refusals.ts";
import { bodyCapBytes, whisperFormats } from "./personality.ts";
import type { Ask, Model, Personality } from "./personality.ts";
import { durationUsage, languageName, plain, tokenUsage, verbose } from "./shapes.ts";
import type { Transcript } from "./transcript.ts";

const gpt4o = { formats: ["json", "text"], minSeconds: 0.1, maxSeconds: 1400 };
const models = new Map<string, Omit<Model, "name">>([
  ["whisper-1", { formats: whisperFormats, minSeconds: 0.1, maxSeconds: Infinity }],
  ["gpt-transcribe", { ...gpt4o, maxSeconds: Infinity }],
  ["gpt-4o-transcribe", gpt4o],
  ["gpt-4o-mini-transcribe", gpt4o],
  ["gpt-4o-mini-transcribe-2025-12-15", gpt4o],
  ["gpt-4o-transcribe-diarize", { ...gpt4o, formats: ["json", "text", "diarized_json"] }],
]);

function answer(transcript: Transcript, ask: Ask): Answer {
  const { text, seconds, segments } = transcript;
  const { language = transcript.language } = ask;
  const isGpt = ask.model.name !== "whisper-1";
  const usage = isGpt ? tokenUsage(transcript) : durationUsage(seconds);
  if (ask.isStreaming && isGpt) return stream(transcript, usage);
  const given = plain(transcript, ask.format);
  if (given) return given;
  if (ask.format === "verbose_json") {
    const name = languageName(language).toLowerCase();
    return { status: 200, body: { ...verbose(transcript, ask, name), usage } };
  }
  if (ask.format === "diarized_json") {
    const said = segments.map(({ start, end, text, speaker }, index) => {
      return { type: "transcript.text.segment", id: `seg_${index}`, start, end, text, speaker };
    });
    const body = { task: "transcribe", duration: seconds, text, segments: said, usage };
    return { status: 200, body };
  }
  const logprobs = text.split(" ").map((token) => ({
    token,
    logprob: -0.286,
    bytes: [...Buffer.from(token)],
  }));
  const extras = {
    ...(ask.hasLogprobs && ask.model.name.startsWith("gpt-4o") && { logprobs }),
    ...(ask.model.name === "gpt-transcribe" && { languages: text === "" ? [] : [language] }),
  };
  return { status: 200, body: { text, ...extras, usage } };
}

function stream({ text }: Transcript, usage: object): Answer {
  const deltas = (text.match(/\S+\s*/g) ?? []).map((delta) => ({
    type: "transcript.text.delta",
    delta,
  }));
  const events = [...deltas, { type: "transcript.text.done", text, usage }];
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
  };
}

export const openai: Personality = {
  capBytes: bodyCapBytes,
  asksForKey: true,
  isOneAtATime: false,
  hasVoiceDetection: false,
  requiresModel: true,
  checksExtension: true,
  isLenient: false,
  decodes: () => true,
  model: (name) => {
    const model = models.get(name);
    return model && { name, ...model };
  },
  refuse,
  answer,
  headers: (requestId) => ({
    "x-request-id": requestId,
    "openai-processing-ms": "12",
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-reset-requests": "120ms",
  }),
};
