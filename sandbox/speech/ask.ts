import { Refused, whisperFormats } from "./personality.ts";
import type { Ask, Personality } from "./personality.ts";
import type { Settings } from "./settings.ts";
import { isLanguageCode } from "./shapes.ts";
import type { Upload } from "./upload.ts";

const allFormats = [...whisperFormats, "diarized_json"];
const granularities = ["word", "segment"];

/** Throws `Refused` where the form asks for something that this server does not do. */
export function readAsk(
  { fields }: Upload,
  personality: Personality,
  settings: Settings,
  requestId: string,
): Ask {
  const first = (name: string): string | undefined => fields.get(name)?.[0] || undefined;
  const name = first("model");
  if (name === undefined && personality.requiresModel)
    throw new Refused({ kind: "missing", field: "model" });
  const model = personality.model(name ?? "", settings);
  if (!model) throw new Refused({ kind: "unknown_model", model: name ?? "" });

  const format = first("response_format") ?? "json";
  if (!personality.isLenient) {
    demand("response_format", format, allFormats);
    if (!model.formats.includes(format))
      throw new Refused({
        kind: "unsupported_format",
        format,
        model: model.name,
        allowed: model.formats,
      });
  }

  const wanted = fields.get("timestamp_granularities[]") ?? [];
  if (!personality.isLenient) {
    for (const each of wanted) demand("timestamp_granularities[]", each, granularities);
    // Times exist in one format only; asking for them elsewhere is a mistake worth hearing about.
    if (wanted.length > 0) demand("response_format", format, ["verbose_json"]);
  }
  const language = first("language");
  if (language !== undefined && !personality.isLenient && !isLanguageCode(language))
    throw new Refused({ kind: "bad_language", language });
  return {
    model,
    format,
    language,
    hasSegments: wanted.length === 0 || wanted.includes("segment"),
    hasWords: wanted.includes("word"),
    hasLogprobs: (fields.get("include[]") ?? []).includes("logprobs"),
    hasChunking: first("chunking_strategy") !== undefined,
    isStreaming: first("stream") === "true",
    hasTimes: first("no_timestamps") !== "true",
    hasProbabilities: first("no_language_probabilities") !== "true",
    requestId,
  };
}

function demand(field: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) throw new Refused({ kind: "bad_value", field, value, allowed });
}
