import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenApiDocument } from "./openapi-document.ts";
import { describedApp, sampleRoutes } from "./openapi.testing.ts";

type Json = Record<string, unknown>;

const types = new Set<unknown>([
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
]);
const componentName = /^[\w.-]+$/;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function* nodesOf(value: unknown, at = "#"): Generator<[string, Json]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* nodesOf(item, `${at}/${index}`);
  } else if (isObject(value)) {
    yield [at, value];
    for (const [key, item] of Object.entries(value)) yield* nodesOf(item, `${at}/${key}`);
  }
}

function lookUp(document: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<unknown>(
    (value, step) => (isObject(value) ? value[step] : undefined),
    document,
  );
}

function* faultsOfSchema(schema: unknown, at: string): Generator<string> {
  if (typeof schema === "boolean") return;
  if (!isObject(schema)) {
    yield `${at} is no schema`;
    return;
  }
  const {
    type,
    properties = {},
    required = [],
    items,
    additionalProperties,
    enum: choices,
    pattern,
  } = schema;
  for (const name of [type ?? []].flat()) if (!types.has(name)) yield `${at} is of no known type`;
  if (!isObject(properties)) yield `${at} has no usable properties`;
  if (!Array.isArray(required)) yield `${at} has no usable list of what is required`;
  if (choices !== undefined && !(Array.isArray(choices) && choices.length > 0))
    yield `${at} has no choices`;
  if (typeof pattern === "string") assert.doesNotThrow(() => new RegExp(pattern, "u"), at);
  for (const [name, property] of Object.entries(properties as Json))
    yield* faultsOfSchema(property, `${at}.${name}`);
  for (const list of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    const schemas = schema[list] ?? [];
    if (!Array.isArray(schemas)) yield `${at}/${list} is no list`;
    else
      for (const [index, one] of schemas.entries())
        yield* faultsOfSchema(one, `${at}/${list}/${index}`);
  }
  if (items !== undefined) yield* faultsOfSchema(items, `${at}[]`);
  if (additionalProperties !== undefined) yield* faultsOfSchema(additionalProperties, `${at}.*`);
}

function* faultsOf(document: OpenApiDocument): Generator<string> {
  if (!/^3\.1\.\d+$/.test(document.openapi)) yield "it is not of version 3.1";
  for (const [at, node] of nodesOf(document)) {
    const { $ref, schema } = node;
    if (typeof $ref === "string" && !isObject(lookUp(document, $ref)))
      yield `${at} leads to ${$ref}, which is not there`;
    if (schema !== undefined) yield* faultsOfSchema(schema, at);
  }
  for (const [kind, components] of Object.entries(document.components)) {
    for (const [name, component] of Object.entries(components as Json)) {
      if (!componentName.test(name)) yield `${kind} has the name ${name}`;
      if (kind === "schemas") yield* faultsOfSchema(component, name);
    }
  }
  const ids = new Set<string>();
  for (const [path, operations] of Object.entries(document.paths)) {
    if (!path.startsWith("/")) yield `${path} is no path`;
    for (const [method, operation] of Object.entries(operations)) {
      const at = `${method} ${path}`;
      if (!operation.operationId || ids.has(operation.operationId))
        yield `${at} has no name of its own`;
      ids.add(operation.operationId);
      const statuses = Object.keys(operation.responses);
      if (!statuses.some((status) => /^[23]\d\d$/.test(status))) yield `${at} has no success`;
      if (!statuses.every((status) => /^[1-5]\d\d$/.test(status))) yield `${at} has an odd status`;
      for (const name of operation.security.flatMap(Object.keys)) {
        if (!(name in document.components.securitySchemes)) yield `${at} wants ${name}`;
      }
      const inPath = operation.parameters.flatMap((one) =>
        "in" in one && one.in === "path" ? one.name : [],
      );
      const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      if (inPath.join() !== inTemplate.join()) yield `${at} has the parameters ${inPath.join()}`;
      if (!operation.tags.every((tag) => document.tags.some(({ name }) => name === tag)))
        yield `${at} has an odd tag`;
    }
  }
}

const { app, document } = await describedApp(sampleRoutes);

test("the document is sound: references lead somewhere, names are unique, schemas are schemas", () => {
  assert.deepEqual([...faultsOf(document())], []);
});

test("the check of the document finds what is wrong", () => {
  const broken = structuredClone(document());
  Object.assign(broken.components.schemas, { "Bad Name": { type: "text" } });
  delete broken.components.headers["Retry-After"];
  const [operation] = Object.values(broken.paths["/v1/posts/{id}"] ?? {});
  assert.ok(operation);
  Object.assign(operation, {
    operationId: "getHealth",
    parameters: [],
    responses: {},
    security: [{ none: [] }],
  });
  const faults = [...faultsOf(broken)].join("\n");
  for (const fault of [
    "Bad Name",
    "no known type",
    "Retry-After",
    "no name",
    "no success",
    "wants none",
    "parameters",
  ]) {
    assert.ok(faults.includes(fault), `${fault} is not found in ${faults}`);
  }
});

test("programs get the document as it is", async () => {
  const reply = await app.inject("/openapi.json");
  assert.equal(reply.statusCode, 200);
  assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  assert.deepEqual(reply.json(), JSON.parse(JSON.stringify(document())));
});
