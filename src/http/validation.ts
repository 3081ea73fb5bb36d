import type { FastifyTypeProvider } from "fastify";
import { z } from "zod";
import { AppError } from "../errors.ts";
import type { ErrorDetail } from "../errors.ts";
import { cut } from "./json.ts";

/** Lets Fastify infer what a handler gets from the zod schemas of its route. */
export interface ZodTypes extends FastifyTypeProvider {
  validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
  serializer: this["schema"] extends z.ZodType ? z.input<this["schema"]> : unknown;
}

// The contract's words for what the validator calls otherwise.
const contractCodes: Record<string, string> = {
  invalid_format: "invalid_string",
  invalid_value: "invalid_enum_value",
  invalid_key: "invalid_type",
  invalid_element: "invalid_type",
};

const roots: Record<string, string> = {
  body: "body",
  querystring: "query",
  params: "params",
  headers: "headers",
};

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function valueAt(data: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      value !== null && typeof value === "object" && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    data,
  );
}

function fieldName(root: string, path: PropertyKey[]): string {
  return cut([root, ...path.map(String)].join("."), 300);
}

function detailsOf(issue: z.core.$ZodIssue, root: string, data: unknown): ErrorDetail[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, 20).map((key) => ({
      field: fieldName(root, [...issue.path, key]),
      message: "This field is not known here",
      code: issue.code,
    }));
  }
  const custom = issue.code === "custom" ? issue.params?.["code"] : undefined;
  const code = typeof custom === "string" ? custom : (contractCodes[issue.code] ?? issue.code);
  const detail = { field: fieldName(root, issue.path), message: issue.message, code };
  return [
    code === "invalid_type" ? { ...detail, received: typeName(valueAt(data, issue.path)) } : detail,
  ];
}

/** Every problem of a request's part at once, in the contract's shape. `root` is where the field names start. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  data: unknown,
  root: string,
): z.output<Schema> {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues
    .flatMap((issue) => detailsOf(issue, root, data))
    .slice(0, 100);
  throw new AppError("validation_error", "The request is not valid", { details });
}

export function validatorCompiler({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  if (!(schema instanceof z.ZodType))
    throw new Error("routes describe their input with zod schemas");
  const root = roots[httpPart ?? "body"] ?? "body";
  // A body may be left out where every field of it is optional.
  return (data: unknown) => ({
    value: validate(schema, root === "body" ? (data ?? {}) : data, root),
  });
}
