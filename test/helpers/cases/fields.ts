import type { Case } from "../hostile.ts";

// Made from the document that the service publishes of itself, so a new route or field is tested as soon as it is there.

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  minLength?: number;
  maxLength?: number;
}

interface Operation {
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

export interface Described {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, JsonSchema> };
}

// An id in the form that most of ours have, of nothing that exists.
const nobody = "00000000-0000-4000-8000-000000000000";

const samples: readonly [type: string, text: string][] = [
  ["null", "null"],
  ["boolean", "true"],
  ["boolean", "false"],
  ["integer", "0"],
  ["integer", "-0"],
  ["integer", "9007199254740993"],
  ["number", "1.5"],
  ["number", "1e400"],
  ["number", "-1e400"],
  ["number", "5e-324"],
  ["array", "[]"],
  ["array", '["x"]'],
  ["array", "[[[]]]"],
  ["object", "{}"],
  ["object", '{"name":"x"}'],
  ["object", '{"0":"x","length":1}'],
  ["string", '""'],
  ["string", '"x"'],
  ["string", '"null"'],
];

function typesOf(schema: JsonSchema, resolve: (schema: JsonSchema) => JsonSchema): Set<string> {
  const { type, anyOf = [], oneOf = [], enum: values, const: value } = resolve(schema);
  const ofValues = [...(values ?? []), ...(value === undefined ? [] : [value])].map((each) =>
    each === null ? "null" : typeof each,
  );
  const types = [type ?? []].flat().concat(ofValues);
  for (const each of [...anyOf, ...oneOf]) types.push(...typesOf(each, resolve));
  return new Set(types.flatMap((each) => (each === "number" ? ["number", "integer"] : [each])));
}

interface Fault {
  name: string;
  /** The value at fault, as JSON. */
  text: string;
  field: string;
}

/** Everything that is wrong with one value, and further in with its parts. */
function faultsOf(
  schema: JsonSchema,
  field: string,
  resolve: (schema: JsonSchema) => JsonSchema,
): Fault[] {
  const types = typesOf(schema, resolve);
  if (types.size === 0) return [];
  const { minLength = 0, maxLength, properties = {}, ...rest } = resolve(schema);
  const faults = samples
    .filter(([type]) => !types.has(type))
    .map(([, text]) => ({ name: `${field} is ${text}`, text, field }));
  if (minLength > 0) faults.push({ name: `${field} is empty`, text: '""', field });
  if (maxLength !== undefined) {
    for (const length of [maxLength + 1, maxLength + 1_000])
      faults.push({
        name: `${field} of ${length} characters`,
        text: `"${"é".repeat(length)}"`,
        field,
      });
  }
  for (const [name, part] of Object.entries(properties)) {
    for (const fault of faultsOf(part, `${field}.${name}`, resolve))
      faults.push({ ...fault, text: `{${JSON.stringify(name)}:${fault.text}}` });
  }
  for (const name of rest.required ?? [])
    faults.push({ name: `${field}.${name} is missing`, text: "{}", field: `${field}.${name}` });
  if (rest.additionalProperties === false) {
    for (const name of ["extra", "id", "userId", "createdAt", "status", "NAME", " name", "", "0"])
      faults.push({
        name: `${field} with "${name}"`,
        text: `{${JSON.stringify(name)}:1}`,
        field: `${field}.${name}`,
      });
  }
  return faults;
}

/** Each field of each body: missing, null, of every wrong type, empty, too long; and fields that are not known. */
export function fieldCases(document: Described): Case[] {
  const resolve = ({ $ref, ...schema }: JsonSchema): JsonSchema =>
    $ref ? (document.components?.schemas?.[$ref.split("/").at(-1) ?? ""] ?? {}) : schema;
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content["application/json"]?.schema;
      if (!schema) return [];
      return faultsOf(schema, "body", resolve).map(({ name, text, field }) => ({
        name: `${method} ${path}: ${name}`,
        method: method.toUpperCase() as "POST",
        path: path.replaceAll(/\{\w+\}/g, nobody),
        body: text,
        expect: 400,
        detail: { field },
      }));
    }),
  );
}

// What the contract itself says of a key's name, whatever the document may say.
const names: readonly (readonly [text: string, expect: number])[] = [
  ["", 400],
  ["x", 201],
  ["x".repeat(100), 201],
  ["x".repeat(101), 400],
  ["\u{1f600}".repeat(100), 201],
  ["\u{1f600}".repeat(101), 400],
  ["e\u0301".repeat(50), 201],
  ["e\u0301".repeat(51), 400],
];

export const nameCases: Case[] = names.map(([name, expect]) => ({
  name: `a name of ${name.length} units: ${name.slice(0, 4)}`,
  method: "POST",
  path: "/v1/api-keys",
  body: JSON.stringify({ name }),
  expect,
  detail: expect === 400 ? { field: "body.name" } : undefined,
}));
