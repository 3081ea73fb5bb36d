import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ImageSource, Node } from "@takumi-rs/core";
import { extractEmojis } from "@takumi-rs/helpers/emoji";

const folder = fileURLToPath(new URL(".", import.meta.resolve("@twemoji/svg/package.json")));
const prefix = /^https:\/\/cdn\.jsdelivr\.net\/.*\/([0-9a-f-]+)\.svg$/;

const hasFile = (name: string): boolean => existsSync(`${folder}${name}.svg`);

/** Twemoji's picture of an emoji, or of the nearest it has: without the variation mark, without the skin tone. */
function fileOf(name: string): string | undefined {
  const bare = name.replaceAll("-fe0f", "");
  const toneless = bare.replaceAll(/-1f3f[b-f]/g, "");
  return [name, bare, toneless].find(hasFile);
}

const hexOf = (character: string): string => character.codePointAt(0)?.toString(16) ?? "";

/** Whether a single character has a picture. */
export const hasPicture = (character: string): boolean => hasFile(hexOf(character));

// What has no glyph in most fonts and would draw its neighbours into another: joiners outside of the scripts that use
// them, variation selectors, byte order marks. Direction marks, soft hyphens and break opportunities are kept.
const invisible =
  /(?![\u00AD\u200B\u200C-\u200F\u202A-\u202E\u2066-\u2069])\p{Default_Ignorable_Code_Point}/gu;
const idleJoiner =
  /(?<![\p{Script=Arabic}\p{Script=Devanagari}\p{M}])[\u200C\u200D](?![\p{Script=Arabic}\p{Script=Devanagari}])/gu;

function visible(node: Node): Node {
  if (node.type === "text")
    return { ...node, text: node.text.replaceAll(invisible, "").replaceAll(idleJoiner, "") };
  if (node.type === "container" && node.children)
    return { ...node, children: node.children.map(visible) };
  return node;
}

/** The tree with its emoji as pictures in the line, named by addresses that `emojiImages` has the bytes for. */
export const withEmoji = (node: Node): Node => visible(extractEmojis(node, "twemoji"));

function* addressesIn(node: Node): Generator<string> {
  if (node.type === "image" && typeof node.src === "string" && prefix.test(node.src))
    yield node.src;
  if (node.type === "container") for (const child of node.children ?? []) yield* addressesIn(child);
}

const nameOf = (address: string): string => prefix.exec(address)?.[1] ?? "";

/** The bytes of every emoji in a tree, from this machine. */
export async function emojiImages(node: Node): Promise<ImageSource[]> {
  return await Promise.all(
    [...new Set(addressesIn(node))].map(async (src) => {
      const file = fileOf(nameOf(src));
      if (!file) throw new Error(`There is no picture of the emoji ${nameOf(src)}`);
      return { src, data: await readFile(`${folder}${file}.svg`) };
    }),
  );
}

/** A text taken apart: what fonts must draw, and the emoji that nobody has a picture of. */
export function splitEmoji(text: string): { letters: string; missing: string[] } {
  const node = withEmoji({ type: "text", text });
  const parts = node.type === "container" ? (node.children ?? []) : [node];
  const letters = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const missing = [...new Set(addressesIn(node))]
    .map(nameOf)
    .filter((name) => !fileOf(name))
    .map((name) => String.fromCodePoint(...name.split("-").map((hex) => Number.parseInt(hex, 16))));
  return { letters, missing };
}
