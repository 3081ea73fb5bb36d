import { STATUS_CODES } from "node:http";
import { z } from "zod";
import { statusOfCode } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import { refTo } from "./openapi-document.ts";
import type { Answer, Components, JsonSchema, MediaType, Operation } from "./openapi-document.ts";
import { errorBodySchema, errorMeanings } from "./openapi-errors.ts";
import { errorsOf, isRepeatable } from "./openapi-facts.ts";
import { headersOf } from "./openapi-headers.ts";
import type { DocumentedRoute } from "./openapi-routes.ts";
import type { Schemas } from "./openapi-schemas.ts";

const json = "application/json";
const retriedStatuses = new Set([409, 429, 503]);

/** Fastify's two forms: a schema for JSON, or schemas by media type. No body at all is `z.void()`. */
interface WithContent {
  description?: string;
  content?: Record<string, { schema: z.ZodType }>;
}

function contentOf(answer: z.ZodType | WithContent, convert: (schema: z.ZodType) => MediaType) {
  if (answer instanceof z.ZodVoid) return undefined;
  if (answer instanceof z.ZodType) return { [json]: convert(answer) };
  const content = Object.entries(answer.content ?? {});
  return Object.fromEntries(content.map(([type, { schema }]) => [type, convert(schema)]));
}

function ownAnswers(
  route: DocumentedRoute,
  schemas: Schemas,
  isCounted: boolean,
): Record<string, Answer> {
  const answers = Object.entries(route.schema.response as Record<string, z.ZodType | WithContent>);
  return Object.fromEntries(
    answers.map(([status, answer]) => {
      const content = contentOf(answer, (schema) => ({
        schema: schemas.convert(schema, "output", `${route.operationId}${status}`),
      }));
      const headers = headersOf({
        isCounted,
        isRepeatable: isRepeatable(route) && status.startsWith("2"),
      });
      const description = answer.description ?? STATUS_CODES[status] ?? status;
      return [status, { description, headers, ...(content && { content }) }];
    }),
  );
}

function errorAnswer(codes: readonly ErrorCode[], schemas: Schemas): Answer {
  const examples = Object.fromEntries(codes.map((code) => [code, refTo("examples", code)]));
  return {
    description: codes.map((code) => `\`${code}\`: ${errorMeanings[code]}`).join("\n\n"),
    headers: headersOf({
      isCounted: true,
      isRetried: codes.some((code) => retriedStatuses.has(statusOfCode[code])),
    }),
    content: {
      [json]: { schema: schemas.convert(errorBodySchema, "output", "ErrorBody"), examples },
    },
  };
}

/** The answer of a route that uses one status both for a shape of its own and for errors. */
function eitherAnswer(own: Answer, error: Answer): Answer {
  const shapes = [own, error].flatMap<JsonSchema>(({ content }) => content?.[json]?.schema ?? []);
  return {
    description: `${own.description}\n\n${error.description}`,
    headers: { ...own.headers, ...error.headers },
    content: { ...own.content, [json]: { ...error.content?.[json], schema: { anyOf: shapes } } },
  };
}

/** Answers to errors are shared between operations: `shared` keeps each set of codes once. */
export function answersOf(
  route: DocumentedRoute,
  schemas: Schemas,
  shared: Components["responses"],
): Operation["responses"] {
  const errors = errorsOf(route);
  const own = ownAnswers(route, schemas, errors.includes("rate_limit_exceeded"));
  const answers: Operation["responses"] = { ...own };
  for (const [status, codes] of Map.groupBy(errors, (code) => statusOfCode[code])) {
    const answer = errorAnswer(codes, schemas);
    const ownAnswer = own[status];
    if (ownAnswer) {
      answers[status] = eitherAnswer(ownAnswer, answer);
    } else {
      const name = codes.join(".");
      shared[name] = answer;
      answers[status] = refTo("responses", name);
    }
  }
  return answers;
}
