import { resolve } from "./openapi-document.ts";
import type {
  Answer,
  JsonSchema,
  OpenApiDocument,
  Operation,
  Parameter,
} from "./openapi-document.ts";
import { requestHeaders } from "./openapi-headers.ts";
import { answers } from "./page-answers.ts";
import { curl } from "./page-curl.ts";
import { fields } from "./page-fields.ts";
import { html, paragraphs } from "./page-html.ts";
import type { Html } from "./page-html.ts";
import { json } from "./page-json.ts";
import { sampleOf } from "./page-sample.ts";

export interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

const places = { path: "Path", query: "Query", header: "Headers" } as const;

function parameterTables(document: OpenApiDocument, operation: Operation): Html[] {
  const parameters = operation.parameters.map((parameter) =>
    resolve<Parameter>(document, parameter),
  );
  // Headers that mean the same everywhere are explained in the guide.
  const own = parameters.filter(({ name }) => !(name in requestHeaders));
  return Object.entries(places).flatMap(([place, title]) => {
    const here = own.filter((parameter) => parameter.in === place);
    if (here.length === 0) return [];
    const properties = here.map(({ name, description, schema }): [string, JsonSchema] => [
      name,
      { ...schema, description },
    ]);
    const required = here.filter((parameter) => parameter.required).map(({ name }) => name);
    const schema: JsonSchema = {
      type: "object",
      properties: Object.fromEntries(properties),
      required,
    };
    return html`<h4>${title}</h4>
      ${fields(document, schema, "input")}`;
  });
}

function badges(document: OpenApiDocument, operation: Operation): Html[] {
  const credentials = operation.security.flatMap(Object.keys).map((name) => {
    const scheme = document.components.securitySchemes[name];
    return scheme?.type === "apiKey" ? scheme.name : "ID token";
  });
  const limit = operation["x-limit-per-minute"];
  const texts = [
    ...(credentials.length > 0 ? credentials : ["no credential"]),
    ...(limit === undefined ? [] : [`${limit} per minute`]),
  ];
  return texts.map((text) => html`<span class="badge">${text}</span> `);
}

function examples(document: OpenApiDocument, { method, path, operation }: Entry): Html {
  const [status = "", answer] = Object.entries(operation.responses)[0] ?? [];
  const media = answer && resolve<Answer>(document, answer).content?.["application/json"];
  return html`<div class="examples">
    <figure>
      <figcaption>Request</figcaption>
      <pre><code>${curl(document, operation, method, path)}</code></pre>
    </figure>
    ${
      media
        ? html`<figure>
            <figcaption>Answer <span class="status">${status}</span></figcaption>
            ${json(sampleOf(document, media.schema, true))}
          </figure>`
        : ""
    }
  </div>`;
}

export function operationSection(document: OpenApiDocument, entry: Entry): Html {
  const { method, path, operation } = entry;
  const body = operation.requestBody?.content["application/json"];
  return html`<article id="${operation.operationId}">
    <div>
      <h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
      <p class="endpoint">
        <span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code>
        ${badges(document, operation)}
      </p>
      ${operation.description ? paragraphs(operation.description) : ""}
      ${parameterTables(document, operation)}
      ${
        body
          ? html`<h4>Body${operation.requestBody?.required ? "" : ", may be left out"}</h4>
              ${fields(document, body.schema, "input")}`
          : ""
      }
      ${answers(document, operation)}
    </div>
    ${examples(document, entry)}
  </article>`;
}
