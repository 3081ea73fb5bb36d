import { resolve } from "./openapi-document.ts";
import type { JsonSchema, OpenApiDocument } from "./openapi-document.ts";

type AnySchema = JsonSchema | boolean | undefined;

const formats: Record<string, string> = {
  uri: "URL",
  uuid: "UUID",
  "date-time": "date-time",
  email: "e-mail",
};

/** The schema itself: what a reference stands for, with what is said beside the reference. */
export function opened(document: OpenApiDocument, schema: AnySchema): JsonSchema {
  if (typeof schema !== "object") return {};
  const { $ref, ...own } = schema;
  return $ref === undefined ? schema : { ...resolve<JsonSchema>(document, { $ref }), ...own };
}

/** The schemas of which a value fits one, or undefined where there is no choice. */
export function variantsOf(schema: JsonSchema): JsonSchema[] | undefined {
  return schema.anyOf ?? schema.oneOf;
}

/** Items that all look alike; of a tuple nothing is known. */
export function itemsOf(schema: JsonSchema): AnySchema {
  return Array.isArray(schema.items) ? undefined : schema.items;
}

export function typeOf(document: OpenApiDocument, given: AnySchema): string {
  const schema = opened(document, given);
  const variants = variantsOf(schema);
  if (variants)
    return [...new Set(variants.map((variant) => typeOf(document, variant)))].join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const names = [schema.type ?? []].flat().map((name) => {
    if (name === "array") return arrayType(document, schema);
    if (name === "string") return formats[schema.format ?? ""] ?? "string";
    const isMap =
      name === "object" && !schema.properties && typeof schema.additionalProperties === "object";
    return isMap ? `map of ${typeOf(document, schema.additionalProperties)}` : name;
  });
  return names.join(" or ") || "anything";
}

function arrayType(document: OpenApiDocument, schema: JsonSchema): string {
  const items = typeOf(document, itemsOf(schema));
  if (items.includes(" or ")) return `array of (${items})`;
  return /^[a-z-]+$/i.test(items) && items !== "anything"
    ? `array of ${items}s`
    : `array of ${items}`;
}

/** Bounds in words. A unit is named in the singular. */
function range(least: number | undefined, most: number | undefined, unit?: string): string {
  const say = (count: number) => {
    const number = count.toLocaleString("en-US");
    return unit === undefined ? number : `${number} ${unit}${count === 1 ? "" : "s"}`;
  };
  if (least === undefined) return most === undefined ? "" : `at most ${say(most)}`;
  if (most === undefined) return `at least ${say(least)}`;
  return least === most
    ? `exactly ${say(most)}`
    : `${least.toLocaleString("en-US")} to ${say(most)}`;
}

/** What the type does not say: sizes, choices, patterns, defaults. */
export function limitsOf(document: OpenApiDocument, given: AnySchema): string[] {
  const schema = opened(document, given);
  const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  const inner = (variantsOf(schema) ?? []).flatMap((variant) => limitsOf(document, variant));
  const items = schema.type === "array" ? limitsOf(document, itemsOf(schema)) : [];
  const limits = [
    ...inner,
    schema.enum ? `one of ${schema.enum.map((value) => `\`${String(value)}\``).join(", ")}` : "",
    range(schema.minLength, schema.maxLength, "character"),
    range(schema.minItems, schema.maxItems, "item"),
    range(schema.minimum, schema.maximum),
    above === undefined ? "" : `above ${String(above)}`,
    below === undefined ? "" : `below ${String(below)}`,
    schema.multipleOf === undefined ? "" : `a multiple of ${schema.multipleOf}`,
    schema.pattern === undefined ? "" : `matches \`${schema.pattern}\``,
    ...items.map((limit) => `each ${limit}`),
    schema.default === undefined ? "" : `default \`${JSON.stringify(schema.default)}\``,
  ];
  return [...new Set(limits)].filter((limit) => {
    // A list of what may also be given alone has that limit already.
    const isSaid = limit.startsWith("each ") && limits.includes(limit.slice("each ".length));
    return limit !== "" && !isSaid;
  });
}
