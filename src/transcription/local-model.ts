import { randomUUID } from "node:crypto";
import { access, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const localModelName = "moonshine-tiny";

export interface ModelFiles {
  encoder: string;
  decoder: string;
  /** Detects voices. */
  detector: string;
  tokens: string;
}

const beside = (name: string, file: string): string =>
  fileURLToPath(new URL(file, import.meta.resolve(name)));

/** The model comes with the npm packages, except for its table of tokens, which is the one of Llama: made once here. */
async function writeTokens(cacheDir: string): Promise<string> {
  const path = join(cacheDir, `${localModelName}-tokens.txt`);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) return path;
  const { default: tokenizer } = await import("llama-tokenizer-js");
  const lines = tokenizer.vocabById.map(
    (piece, id) => `${Buffer.from(piece).toString("base64")}\t${id}\n`,
  );
  await mkdir(cacheDir, { recursive: true });
  // Renamed when whole: a crash leaves no half table, and two processes may do this at once.
  const unfinished = `${path}.${randomUUID()}`;
  await writeFile(unfinished, lines.join(""));
  await rename(unfinished, path);
  return path;
}

export async function findModel(cacheDir: string): Promise<ModelFiles> {
  const folder = "./model/tiny/quantized";
  return {
    encoder: beside("@moonshine-ai/moonshine-js", `${folder}/encoder_model.onnx`),
    decoder: beside("@moonshine-ai/moonshine-js", `${folder}/decoder_model_merged.onnx`),
    detector: beside("@ricky0123/vad-web", "./silero_vad_v5.onnx"),
    tokens: await writeTokens(cacheDir),
  };
}
