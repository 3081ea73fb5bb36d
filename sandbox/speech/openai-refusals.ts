import type { Answer } from "../answer.ts";
import { extensions } from "./audio.ts";
import { bodyCapBytes } from "./personality.ts";
import type { Model, Problem } from "./personality.ts";
import { durationUsage } from "./shapes.ts";

/** `param` and `code` are null rather than absent. */
function refusal(
  status: number,
  message: string,
  code: string | null = null,
  param: string | null = null,
): Answer {
  return { status, body: { error: { message, type: "invalid_request_error", param, code } } };
}

const formatList = `[${[...extensions.keys()].map((extension) => `'${extension}'`).join(",")}]`;

export function refuse(problem: Problem): Answer {
  switch (problem.kind) {
    case "bad_key":
      return problem.key === ""
        ? refusal(401, "You didn't provide an API key.", "invalid_api_key")
        : refusal(401, `Incorrect API key provided: ${problem.key}.`, "invalid_api_key");
    case "too_large": {
      const limit = `Maximum content size limit (${bodyCapBytes}) exceeded`;
      const message = `413: ${limit} (${problem.readBytes} bytes read)`;
      const error = { message, type: "server_error", param: null, code: null };
      return { status: 413, body: { error, usage: durationUsage(0) } };
    }
    case "malformed":
      return refusal(400, `Could not parse multipart form: ${problem.message}`);
    case "missing":
      return refusal(
        400,
        `Missing required parameter: '${problem.field}'.`,
        "missing_required_parameter",
        problem.field,
      );
    case "unknown_model":
      return refusal(
        404,
        `The model \`${problem.model}\` does not exist or you do not have access to it.`,
        "model_not_found",
      );
    case "bad_value": {
      const { field, value, allowed } = problem;
      const list = allowed.map((word) => `'${word}'`).join(", ");
      return refusal(
        400,
        `Invalid value: '${value}'. Supported values are: ${list}.`,
        "invalid_value",
        field,
      );
    }
    case "unsupported_format": {
      const { format, model, allowed } = problem;
      const list = allowed.map((word) => `'${word}'`).join(" or ");
      return refusal(
        400,
        `response_format '${format}' is not compatible with model '${model}'. Use ${list} instead.`,
        "unsupported_value",
        "response_format",
      );
    }
    case "needs_chunking":
      return refusal(
        400,
        "chunking_strategy is required for diarization models",
        "invalid_value",
        "chunking_strategy",
      );
    case "wrong_extension":
      return refusal(400, `Invalid file format. Supported formats: ${formatList}`);
    case "too_short":
      return tooShort(problem.seconds, problem.model);
    case "too_long":
      return refusal(
        400,
        `audio duration ${problem.seconds.toFixed(1)} seconds is longer than ${problem.model.maxSeconds} seconds which is the maximum for this model`,
        "invalid_value",
      );
    case "bad_language":
      return refusal(
        400,
        `Invalid language '${problem.language}'. Language parameter must be specified in ISO-639-1 format.`,
        "invalid_value",
        "language",
      );
    case "no_such_path":
      return refusal(404, `Invalid URL (${problem.method} ${problem.path})`);
    default:
      return refusal(
        400,
        "The audio file could not be decoded or its format is not supported.",
        null,
        "file",
      );
  }
}

function tooShort(seconds: number, { name, minSeconds }: Model): Answer {
  return name.startsWith("whisper")
    ? refusal(
        400,
        `Audio file is too short. Minimum audio length is ${minSeconds} seconds.`,
        "audio_too_short",
        "file",
      )
    : refusal(
        400,
        `audio duration ${seconds.toFixed(1)} seconds is shorter than ${minSeconds} seconds which is the minimum for this model`,
        "invalid_value",
      );
}
