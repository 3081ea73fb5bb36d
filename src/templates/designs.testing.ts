import { z } from "zod";
import type { Template } from "./template.ts";

// Texts for looking at designs and for testing them: every text of a config in one language, at a chosen length.

const sentences = {
  short: "Go",
  long: "The committee met on Thursday to weigh an extraordinarily comprehensive proposal, https://example.org/a/very/long/address/that-does-not-break and all of its consequences. ",
  arabic: "أفضل وقت لزراعة شجرة كان قبل عشرين عاما، وثاني أفضل وقت هو الآن في 2026. ",
  japanese: "木を植えるのに一番良い時期は二十年前でした。次に良い時期は今です。",
  emoji: "Ship it 🚀 with joy 🎉👩‍💻 and flags 🇯🇵, thumbs 👍🏽 ",
};
export const sampleNames = Object.keys(sentences) as (keyof typeof sentences)[];

type Values = Record<string, unknown>;
interface KeySchema {
  type?: string;
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
  enum?: unknown[];
  items?: KeySchema;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function cut(text: string, length: number): string {
  const ends = [...Array.from(graphemes.segment(text), ({ index }) => index), text.length];
  return text
    .slice(
      0,
      ends.findLast((end) => end <= length),
    )
    .trim();
}

/** Every text of the config said in another way: `long` near its limit, the others about as long as the example. */
export function sample(template: Template, name: keyof typeof sentences): Values {
  const sentence = sentences[name];
  const say = (limit: number, example: string): string => {
    if (name === "short") return cut(sentence, limit);
    const length = name === "long" ? Math.floor(limit * 0.98) : Math.max(8, example.length);
    return cut(sentence.repeat(Math.ceil(limit / sentence.length) + 1), Math.min(limit, length));
  };
  const { properties = {} } = z.toJSONSchema(template.config, { io: "input" }) as {
    properties?: Record<string, KeySchema>;
  };
  const example: Values = template.example;
  const values = Object.entries(properties).map(([key, schema]) => {
    const own = example[key];
    const isText = schema.type === "string" && !schema.enum && !schema.pattern;
    if (isText && !template.images.includes(key))
      return [key, say(schema.maxLength ?? 20, typeof own === "string" ? own : "")];
    if (Array.isArray(own) && schema.items?.type === "string") {
      const limit = schema.items.maxLength ?? 20;
      const count = name === "long" ? (schema.maxItems ?? own.length) : own.length;
      return [key, Array.from({ length: count }, (_, i) => say(limit, String(own[i] ?? "")))];
    }
    return [key, own];
  });
  return template.config.parse(
    Object.fromEntries(
      values.filter(([key, value]) => isGiven(template, String(key), value, name)),
    ),
  );
}

/** Short samples say only what they must. */
function isGiven(template: Template, key: string, value: unknown, name: string): boolean {
  if (value === undefined) return false;
  return name !== "short" || template.config.shape[key]?.safeParse(undefined).success === false;
}
