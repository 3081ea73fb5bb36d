import { z } from "zod";
import { refTo } from "./openapi-document.ts";
import type { JsonSchema, Operation, Parameter } from "./openapi-document.ts";
import { isRepeatable } from "./openapi-facts.ts";
import type { DocumentedRoute } from "./openapi-routes.ts";
import type { Schemas } from "./openapi-schemas.ts";

function parametersIn(
  place: Parameter["in"],
  input: unknown,
  convert: (schema: z.ZodType) => JsonSchema,
): Parameter[] {
  if (!(input instanceof z.ZodType)) return [];
  const { properties = {}, required = [] } = convert(input);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as JsonSchema;
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description && { description }),
      schema,
    };
  });
}

/** Everything a request can hold beside its body and its credential. */
export function parametersOf(route: DocumentedRoute, schemas: Schemas): Operation["parameters"] {
  const { path, schema, operationId } = route;
  const convert = (input: z.ZodType) => schemas.convert(input, "input", `${operationId}Parameters`);
  const described = parametersIn("path", schema.params, convert);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]): Parameter => {
    const known = described.find((parameter) => parameter.name === name);
    const isRest = route.url.endsWith("*") && name === "path";
    return {
      schema: { type: "string" },
      ...(isRest && { description: "The rest of the address; it may hold slashes." }),
      ...known,
      name,
      in: "path",
      required: true,
    };
  });
  return [
    ...inPath,
    ...parametersIn("query", schema.querystring, convert),
    ...parametersIn("header", schema.headers, convert),
    ...(isRepeatable(route) ? [refTo("parameters", "Idempotency-Key")] : []),
    refTo("parameters", "X-Request-ID"),
  ];
}

export function requestBodyOf(route: DocumentedRoute, schemas: Schemas): Operation["requestBody"] {
  const { body } = route.schema;
  if (!(body instanceof z.ZodType)) return undefined;
  const schema = schemas.convert(body, "input", `${route.operationId}Body`);
  // A body that is left out is read as an empty object.
  return { required: !body.safeParse({}).success, content: { "application/json": { schema } } };
}
