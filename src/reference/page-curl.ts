import { resolve } from "./openapi-document.ts";
import type { OpenApiDocument, Operation, Parameter } from "./openapi-document.ts";
import { sampleOf } from "./page-sample.ts";

const shellName = (name: string): string =>
  `$${name.replace(/[^A-Za-z0-9]|(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}`;
const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function address(document: OpenApiDocument, operation: Operation, path: string): string {
  const parameters = operation.parameters.map((parameter) =>
    resolve<Parameter>(document, parameter),
  );
  const [server] = operation.servers ?? document.servers;
  const valueOf = ({ name, schema }: Parameter): string => {
    const [example] = schema.examples ?? [];
    if (example === undefined) return shellName(name);
    return encodeURIComponent(typeof example === "string" ? example : JSON.stringify(example));
  };
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const parameter = parameters.find((candidate) => candidate.name === name);
    return parameter ? valueOf(parameter) : whole;
  });
  const query = parameters.filter(
    ({ in: place, required, schema }) => place === "query" && (required || schema.examples),
  );
  const search = query.map((parameter) => `${parameter.name}=${valueOf(parameter)}`).join("&");
  return `${server?.url ?? ""}${filled}${search && `?${search}`}`;
}

function headers(document: OpenApiDocument, operation: Operation): string[] {
  const credentials = operation.security.flatMap(Object.keys).flatMap((name) => {
    const scheme = document.components.securitySchemes[name];
    if (!scheme) return [];
    if (scheme.type === "http") return `Authorization: Bearer ${shellName(name)}`;
    return scheme.in === "header"
      ? `${scheme.name}: ${shellName(name)}`
      : `Cookie: ${scheme.name}=${shellName(name)}`;
  });
  const takesKey = operation.parameters.some(
    (parameter) => "$ref" in parameter && parameter.$ref.endsWith("/Idempotency-Key"),
  );
  return [
    ...credentials,
    ...(takesKey ? ["Idempotency-Key: $(uuidgen)"] : []),
    ...(operation.requestBody ? ["Content-Type: application/json"] : []),
  ];
}

/** A call that can be pasted into a shell; what only the caller knows is a variable. */
export function curl(
  document: OpenApiDocument,
  operation: Operation,
  method: string,
  path: string,
): string {
  const url = address(document, operation, path);
  const body = operation.requestBody?.content["application/json"];
  const verb = method === "get" ? "" : `-X ${method.toUpperCase()} `;
  return [
    `curl ${verb}${/[$&?]/.test(url) ? `"${url}"` : url}`,
    ...headers(document, operation).map((header) => `-H "${header}"`),
    ...(body
      ? [`-d ${singleQuoted(JSON.stringify(sampleOf(document, body.schema, false), null, 2))}`]
      : []),
  ].join(" \\\n  ");
}
