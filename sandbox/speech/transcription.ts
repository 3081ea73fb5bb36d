import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Call } from "../call.ts";
import type { Decision } from "../service.ts";
import { readAsk } from "./ask.ts";
import { extensionOf, extensions } from "./audio.ts";
import { measure } from "./measure.ts";
import type { Sound } from "./measure.ts";
import { Refused } from "./personality.ts";
import type { Ask, Personality } from "./personality.ts";
import { settingsOf } from "./settings.ts";
import type { Settings, Speech } from "./settings.ts";
import { silentSegments, transcribe } from "./transcript.ts";
import type { Segment } from "./transcript.ts";
import type { Upload, UploadedFile } from "./upload.ts";

/** Answers one call: refuses it in the server's words, or says what is in the file. */
export async function decide(
  speech: Speech,
  personality: Personality,
  call: Call,
  upload: Upload,
): Promise<Decision> {
  const requestId = `req_${randomUUID().replaceAll("-", "")}`;
  const settings = settingsOf(speech);
  const { file } = upload;
  const notes = [
    `body ${upload.bodyBytes} bytes`,
    ...(file ? [`file ${file.name} ${file.sizeBytes} bytes sha256 ${file.sha256}`] : []),
  ];
  try {
    if (personality.asksForKey) checkKey(settings, call);
    checkForm(upload);
    const ask = readAsk(upload, personality, settings, requestId);
    if (!file) throw new Refused({ kind: "missing", field: "file" });
    const sound = await listen(file, personality);
    checkLength(sound, ask);
    if (settings.delayMs > 0) await sleep(settings.delayMs, undefined, { ref: false });
    const silence = silenceOf(personality, settings);
    const known = speech.transcripts.get(file.sha256);
    const transcript = transcribe(sound, known, silence);
    const answer = personality.answer(transcript, ask);
    const headers = { ...personality.headers(requestId), ...answer.headers };
    notes.push(`model ${ask.model.name} format ${ask.format} ${transcript.seconds} seconds`);
    return { ...answer, headers, accepted: true, remoteId: requestId, notes };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const headers = personality.headers(requestId);
    return { ...personality.refuse(error.problem), headers, accepted: false, notes };
  }
}

function checkKey({ apiKey }: Settings, { headers, tokenExpired }: Call): void {
  const key = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
  if (apiKey !== null && (tokenExpired || key !== apiKey))
    throw new Refused({ kind: "bad_key", key });
}

function checkForm({ isTooLarge, bodyBytes, problem }: Upload): void {
  if (isTooLarge) throw new Refused({ kind: "too_large", readBytes: bodyBytes });
  if (problem !== undefined) throw new Refused({ kind: "malformed", message: problem });
}

/** The name is looked at first, then the bytes; a name that the bytes contradict is a broken file. */
async function listen(file: UploadedFile, personality: Personality): Promise<Sound> {
  const promised = extensions.get(extensionOf(file.name));
  if (personality.checksExtension && !promised) throw new Refused({ kind: "wrong_extension" });
  if (file.sizeBytes === 0) throw new Refused({ kind: "empty_file" });
  const sound = await measure(file);
  const isAsPromised = !personality.checksExtension || sound?.container === promised;
  if (!sound || !isAsPromised || !personality.decodes(sound.container, sound.isVorbis))
    throw new Refused({ kind: "undecodable" });
  return sound;
}

function checkLength({ seconds }: Sound, { model, hasChunking }: Ask): void {
  if (seconds < model.minSeconds) throw new Refused({ kind: "too_short", seconds, model });
  if (seconds > model.maxSeconds) throw new Refused({ kind: "too_long", seconds, model });
  const isDiarizing = model.formats.includes("diarized_json");
  if (isDiarizing && seconds > 30 && !hasChunking) throw new Refused({ kind: "needs_chunking" });
}

function silenceOf({ hasVoiceDetection }: Personality, { isHallucinating }: Settings): Segment[] {
  if (isHallucinating) return silentSegments("Thank you.");
  return hasVoiceDetection ? [] : silentSegments("");
}
