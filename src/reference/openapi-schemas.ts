import { z } from "zod";
import { refTo } from "./openapi-document.ts";
import type { JsonSchema } from "./openapi-document.ts";

export type Side = "input" | "output";

export interface Schemas {
  /** `owner` names the parts that have no name of their own. */
  convert(schema: z.ZodType, side: Side, owner: string): JsonSchema;
  components: Record<string, JsonSchema>;
}

/** Takes out what says nothing to a reader: the limits of the number type, the pattern that a format stands for. */
function tidy(json: JsonSchema, side: Side): void {
  if (json.format !== undefined) delete json.pattern;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  // An answer may gain fields without a new version of the API; a request may not hold unknown ones.
  if (side === "output" && json.additionalProperties === false) delete json.additionalProperties;
}

/** Converts the routes' zod schemas; those with an id (`.meta({ id })`), or used inside themselves, become components. */
export function createSchemas(): Schemas {
  const components: Record<string, JsonSchema> = {};

  function add(name: string, json: JsonSchema): void {
    const known = components[name];
    if (known && JSON.stringify(known) !== JSON.stringify(json)) {
      throw new Error(`two different schemas are called ${name}`);
    }
    components[name] = json;
  }

  return {
    components,
    convert(schema, side, owner) {
      const override = ({ jsonSchema }: { jsonSchema: JsonSchema }) => tidy(jsonSchema, side);
      const raw = z.toJSONSchema(schema, { io: side, target: "draft-2020-12", override });
      // What a request may leave out an answer may always hold, so one name stands for two shapes.
      const nameOf = (name: string) =>
        name.replace(/^__schema/, `${owner}Part`) +
        (side === "input" && !name.startsWith("__") ? "Input" : "");
      const renamed = JSON.parse(JSON.stringify(raw), (key, value: unknown) => {
        if (key !== "$ref" || typeof value !== "string") return value;
        if (value === "#")
          throw new Error(`${owner} holds itself, so it needs a name: .meta({ id })`);
        return refTo("schemas", nameOf(value.replace("#/$defs/", ""))).$ref;
      }) as JsonSchema;
      const { $schema: _dialect, $defs = {}, ...json } = renamed;
      for (const [name, definition] of Object.entries($defs)) add(nameOf(name), definition);
      return json;
    },
  };
}
