import { z } from "zod";
import { send } from "../answer.ts";
import { controlBody } from "../control-body.ts";
import type { Frame } from "../service.ts";
import type { Collection } from "../store.ts";

const segment = z.strictObject({
  start: z.number().min(0),
  end: z.number().min(0),
  text: z.string(),
  avg_logprob: z.number().optional(),
  no_speech_prob: z.number().min(0).max(1).optional(),
  speaker: z.string().optional(),
});
const knownTranscript = z.strictObject({
  text: z.string(),
  segments: z.array(segment).optional(),
  language: z.string().length(2).optional(),
});
const settings = z.strictObject({
  personality: z.enum(["openai", "groq", "whispercpp", "speaches"]),
  /** Null: no key is asked for. whisper.cpp never asks. */
  apiKey: z.string().min(1).nullable(),
  /** How long the model thinks. */
  delayMs: z.int().min(0).max(600_000),
  /** Whisper hears "Thank you." in silence. */
  isHallucinating: z.boolean(),
  /** Resets the connection of the next uploads in the middle; the common faults strike only whole requests. */
  dropUpload: z
    .strictObject({ afterBytes: z.int().min(0), times: z.int().min(1).default(1) })
    .nullable(),
  /** What speaches has on its disk. */
  installedModels: z.array(z.string().min(1)),
});
const change = settings.partial().extend({
  transcripts: z.record(z.string().regex(/^[0-9a-f]{64}$/), knownTranscript).optional(),
});

export type Settings = z.infer<typeof settings>;
export type KnownTranscript = z.infer<typeof knownTranscript>;

const defaults: Settings = {
  personality: "openai",
  apiKey: "sandbox-speech-key",
  delayMs: 0,
  isHallucinating: false,
  dropUpload: null,
  installedModels: ["Systran/faster-whisper-small"],
};

export interface Speech {
  settings: Collection<Partial<Settings>>;
  /** By the SHA-256 of the file. */
  transcripts: Collection<KnownTranscript & { sha256: string }>;
}

export const stateOf = ({ collection }: Frame): Speech => ({
  settings: collection("settings"),
  transcripts: collection("transcripts"),
});

export const settingsOf = ({ settings }: Speech): Settings => ({
  ...defaults,
  ...settings.get("current"),
});

export function changeSettings(speech: Speech, changed: Partial<Settings>): void {
  speech.settings.set("current", { ...speech.settings.get("current"), ...changed });
}

function shown(speech: Speech): Settings & { transcripts: Record<string, KnownTranscript> } {
  const transcripts = [...speech.transcripts.values()].map(({ sha256, ...known }) => [
    sha256,
    known,
  ]);
  return {
    ...settingsOf(speech),
    transcripts: Object.fromEntries(transcripts) as Record<string, KnownTranscript>,
  };
}

/** `/_control`: which server this is and what it hears. Transcripts add to those known; `DELETE` forgets all. */
export function settingsRoutes({ app, note }: Frame, speech: Speech): void {
  app.get("/_control", () => shown(speech));
  app.post("/_control", async (request, reply) => {
    const given = await controlBody(change, "settings", request, reply);
    if (!given) return;
    const { transcripts = {}, ...changed } = given;
    changeSettings(speech, changed);
    for (const [sha256, known] of Object.entries(transcripts))
      speech.transcripts.set(sha256, { ...known, sha256 });
    await note("speech.control", JSON.stringify(given));
    await send(reply, { status: 200, body: shown(speech) });
  });
  app.delete("/_control", async () => {
    speech.settings.delete("current");
    for (const { sha256 } of speech.transcripts.values()) speech.transcripts.delete(sha256);
    await note("speech.control", "defaults");
    return shown(speech);
  });
}
