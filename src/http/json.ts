import { AppError } from "../errors.ts";

const maxDepth = 64;
// Brackets, colons, commas and strings. More of them in 1 MB is an attempt to keep us busy.
const maxTokens = 50_000;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/y;
const between = /[^"{}[\]:,]*/y;
const forbiddenKeys = new Set(["__proto__", "constructor"]);

/** The beginning of a text, never half a character. */
export function cut(text: string, length: number): string {
  return text.length <= length
    ? text
    : Array.from(text.slice(0, length))
        .filter((each) => each.isWellFormed())
        .join("");
}

function refuse(message: string): never {
  throw new AppError("validation_error", "The request body is not acceptable JSON", {
    details: [{ field: "body", message, code: "invalid_json" }],
  });
}

function decode(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return refuse("the body is not valid UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse("the body is not valid JSON");
  }
}

/**
 * Looks at what `JSON.parse` hides: nesting that later breaks `JSON.stringify`, keys given twice (the last would win in
 * silence), keys that reach a prototype, and characters the database can't store. The text is known to be valid JSON.
 */
function inspect(text: string): void {
  const open: (Set<string> | null)[] = [];
  let previous = "";
  let tokens = 0;
  for (let at = 0; at < text.length;) {
    between.lastIndex = at;
    between.exec(text);
    token.lastIndex = between.lastIndex;
    const found = token.exec(text)?.[0];
    if (found === undefined) return;
    at = token.lastIndex;
    if (++tokens > maxTokens) refuse(`the body has more than ${maxTokens} parts`);
    if (found === "{" || found === "[") {
      open.push(found === "{" ? new Set() : null);
      if (open.length > maxDepth) refuse(`the body is nested deeper than ${maxDepth} levels`);
    } else if (found === "}" || found === "]") {
      open.pop();
    } else if (found.startsWith('"')) {
      const string = JSON.parse(found) as string;
      if (string.includes("\0")) refuse("the body contains a NUL character");
      if (!string.isWellFormed()) refuse("the body contains half of a surrogate pair");
      const keys = open.at(-1);
      if (keys && previous !== ":") addKey(keys, string);
    }
    previous = found;
  }
}

function addKey(keys: Set<string>, key: string): void {
  if (forbiddenKeys.has(key)) refuse(`the key "${key}" is not allowed`);
  if (keys.has(key)) refuse(`the key "${cut(key, 100)}" is given twice`);
  keys.add(key);
}

/** An absent body is `undefined`; what it must hold is for the route's schema to say. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const text = decode(bytes);
  const value = parse(text);
  // Fastify's word for "no body" is null too.
  if (value === null) refuse("the body is null");
  inspect(text);
  return value;
}

/** The same text for the same value, whatever the order of its keys. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) =>
      part !== null && typeof part === "object" && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    ) ?? ""
  );
}
