import { STATUS_CODES } from "node:http";
import { statusOfCode } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import { resolve } from "./openapi-document.ts";
import type { Answer, JsonSchema, OpenApiDocument, Operation } from "./openapi-document.ts";
import { errorMeanings } from "./openapi-errors.ts";
import { commonErrors } from "./openapi-facts.ts";
import { fields } from "./page-fields.ts";
import { html, inline, pairs, paragraphs } from "./page-html.ts";
import type { Html } from "./page-html.ts";

export function errorTable(codes: readonly ErrorCode[]): Html {
  const rows = codes.map(
    (code) =>
      html`<tr>
        <th scope="row"><span class="status">${statusOfCode[code]}</span> <code>${code}</code></th>
        <td>${inline(errorMeanings[code])}</td>
      </tr>`,
  );
  return pairs(["Error", "Meaning"], rows);
}

/** The shape of an answer apart from the error body, which is described once for all. */
function ownSchema(answer: Answer): JsonSchema | undefined {
  const isError = ({ $ref }: JsonSchema): boolean => $ref === "#/components/schemas/ErrorBody";
  const schema = Object.values(answer.content ?? {})[0]?.schema;
  if (!schema || isError(schema)) return undefined;
  return schema.anyOf?.some(isError) ? schema.anyOf.find((shape) => !isError(shape)) : schema;
}

function codesOf(answer: Answer): ErrorCode[] {
  const examples = Object.values(answer.content ?? {}).map((media) => media.examples ?? {});
  return examples.flatMap((example) => Object.keys(example) as ErrorCode[]);
}

function success(document: OpenApiDocument, status: string, answer: Answer): Html | "" {
  const schema = ownSchema(answer);
  if (!schema && codesOf(answer).length > 0) return "";
  const [type = "no body"] = Object.keys(answer.content ?? {});
  const name = STATUS_CODES[status] ?? "";
  const [description = ""] = answer.description.split("\n\n");
  return html`<h4><span class="status">${status}</span> ${name}</h4>
    ${description === name ? "" : paragraphs(description)}
    ${
      schema && type === "application/json"
        ? fields(document, schema, "output")
        : html`<p class="type">${type}</p>`
    }`;
}

/** What an operation answers: each shape of its own, then its errors. */
export function answers(document: OpenApiDocument, operation: Operation): Html {
  const all = Object.entries(operation.responses).map(
    ([status, answer]) => [status, resolve<Answer>(document, answer)] as const,
  );
  const codes = all
    .flatMap(([, answer]) => codesOf(answer))
    .filter((code) => !commonErrors.includes(code));
  return html`${all.map(([status, answer]) => success(document, status, answer))}
    ${
      codes.length > 0
        ? html`<h4>Errors</h4>
            ${errorTable(codes)}`
        : ""
    }
    <p class="note">
      Any request can also get one of the <a href="#common-errors">common errors</a>.
    </p>`;
}
