import type { z } from "zod";

// The part of OpenAPI 3.1 that the service's own document uses.

export type JsonSchema = z.core.JSONSchema.JSONSchema;

export interface Reference {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface Header {
  description: string;
  schema: JsonSchema;
}

export interface Example {
  summary: string;
  value: unknown;
}

export interface MediaType {
  schema: JsonSchema;
  examples?: Record<string, Reference>;
}

export interface Answer {
  description: string;
  headers: Record<string, Reference>;
  content?: Record<string, MediaType>;
}

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  servers?: Server[];
  security: Record<string, string[]>[];
  parameters: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, Answer | Reference>;
  /** Calls per minute and user, beside the tier's limit. */
  "x-limit-per-minute"?: number;
}

export interface Server {
  url: string;
}

export type SecurityScheme =
  | { type: "apiKey"; in: "header" | "cookie"; name: string; description: string }
  | { type: "http"; scheme: "bearer"; bearerFormat: string; description: string };

export interface Components {
  schemas: Record<string, JsonSchema>;
  responses: Record<string, Answer>;
  parameters: Record<string, Parameter>;
  headers: Record<string, Header>;
  examples: Record<string, Example>;
  securitySchemes: Record<string, SecurityScheme>;
}

export interface OpenApiDocument {
  openapi: "3.1.1";
  info: { title: string; version: string; description: string };
  servers: Server[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Components;
}

/** Names of headers and codes hold no character that a JSON pointer would have to escape. */
export function refTo(kind: keyof Components, name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` };
}

/** What a reference of the document stands for. */
export function resolve<Value extends object>(
  document: OpenApiDocument,
  value: Value | Reference,
): Value {
  if (!("$ref" in value) || typeof value.$ref !== "string") return value as Value;
  const [, , kind = "", name = ""] = value.$ref.split("/");
  const found = (document.components as unknown as Record<string, Record<string, Value>>)[kind]?.[
    name
  ];
  if (found === undefined) throw new Error(`${value.$ref} leads nowhere`);
  return found;
}
