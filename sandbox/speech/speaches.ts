import type { Answer } from "../answer.ts";
import type { Ask, Personality, Problem } from "./personality.ts";
import { whisperFormats } from "./personality.ts";
import { plain, verbose } from "./shapes.ts";
import type { Transcript } from "./transcript.ts";

const refusal = (status: number, detail: unknown): Answer => ({ status, body: { detail } });

/** FastAPI's words: `detail` is text, and a list where the form itself is wrong. */
function refuse(problem: Problem): Answer {
  switch (problem.kind) {
    case "bad_key":
      return refusal(403, problem.key === "" ? "Not authenticated" : "Invalid API key");
    case "missing":
      return refusal(422, [
        { type: "missing", loc: ["body", problem.field], msg: "Field required", input: null },
      ]);
    case "unknown_model":
      return refusal(404, `Model '${problem.model}' is not installed locally.`);
    case "bad_value":
    case "unsupported_format": {
      const [field, input] =
        problem.kind === "bad_value"
          ? [problem.field, problem.value]
          : ["response_format", problem.format];
      const msg = `Input should be ${problem.allowed.map((word) => `'${word}'`).join(", ")}`;
      return refusal(422, [{ type: "literal_error", loc: ["body", field], msg, input }]);
    }
    case "malformed":
      return refusal(400, "There was an error parsing the body");
    case "bad_language":
      return refusal(422, [
        {
          type: "enum",
          loc: ["body", "language"],
          msg: "Input should be a language code",
          input: problem.language,
        },
      ]);
    case "no_such_path":
      return refusal(404, "Not Found");
    case "empty_file":
      return refusal(400, "The audio file is empty.");
    default:
      return refusal(415, "Failed to decode audio. The provided file type is not supported.");
  }
}

function answer(transcript: Transcript, ask: Ask): Answer {
  const given = plain(transcript, ask.format);
  if (given) return given;
  const isVerbose = ask.format === "verbose_json";
  return {
    status: 200,
    body: isVerbose
      ? verbose(transcript, ask, ask.language ?? transcript.language)
      : { text: transcript.text },
  };
}

export const speaches: Personality = {
  capBytes: Infinity,
  asksForKey: true,
  isOneAtATime: false,
  hasVoiceDetection: true,
  requiresModel: true,
  checksExtension: false,
  isLenient: false,
  decodes: () => true,
  model: (name, { installedModels }) =>
    installedModels.includes(name)
      ? { name, formats: whisperFormats, minSeconds: 0, maxSeconds: Infinity }
      : undefined,
  refuse,
  answer,
  headers: () => ({}),
};
