import type { JsonSchema, OpenApiDocument } from "./openapi-document.ts";
import { itemsOf, opened, variantsOf } from "./page-schema.ts";

const samples: Record<string, unknown> = {
  "date-time": "2030-01-01T09:00:00Z",
  date: "2030-01-01",
  uri: "https://example.com/picture.jpg",
  uuid: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  email: "someone@example.com",
  string: "string",
  boolean: true,
};

const deepest = 6;

function sampleObject(
  document: OpenApiDocument,
  schema: JsonSchema,
  isWhole: boolean,
  depth: number,
): object {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties);
  const wanted = names.filter(
    (name) => required.includes(name) || opened(document, properties[name]).examples,
  );
  return Object.fromEntries(
    (isWhole || wanted.length === 0 ? names : wanted).map((name) => [
      name,
      sampleOf(document, properties[name], isWhole, depth + 1),
    ]),
  );
}

/** A value that fits the schema. A whole one has every field; otherwise those that a caller has to give. */
export function sampleOf(
  document: OpenApiDocument,
  given: JsonSchema | boolean | undefined,
  isWhole: boolean,
  depth = 0,
): unknown {
  const schema = opened(document, given);
  const known = schema.const ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0];
  if (known !== undefined && known !== null) return known;
  const variants = variantsOf(schema);
  if (variants) return sampleOf(document, variants[0], isWhole, depth);
  const [type] = [schema.type ?? []].flat();
  if (type === "object" || schema.properties) {
    return depth > deepest ? {} : sampleObject(document, schema, isWhole, depth);
  }
  if (type === "array")
    return depth > deepest ? [] : [sampleOf(document, itemsOf(schema), isWhole, depth + 1)];
  if (type === "integer" || type === "number") return Math.max(schema.minimum ?? 1, 1);
  return samples[schema.format ?? ""] ?? samples[type ?? ""] ?? null;
}
