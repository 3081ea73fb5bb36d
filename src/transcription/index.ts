// Speech to text, paid in credits: by an engine on this machine, or by any provider of the common kind. It reads files of
// the media room and stores transcripts; it knows nothing of posts.
export { abandonedTask } from "./abandoned.ts";
export { transcriptionRoutes } from "./routes.ts";
export { createSpeech } from "./create-speech.ts";
export type { Speech } from "./speech.ts";
