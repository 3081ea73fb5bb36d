import { z } from "zod";
import { invalidRequest } from "./refusals.ts";

export type Tree = string | Tree[] | { [key: string]: Tree };
interface Node {
  [key: string]: string | Node;
}

/** `items[0][price]=a&expand[]=b` as a tree. Keys of digits, or none, make a list. */
export function parseForm(pairs: URLSearchParams): { [key: string]: Tree } {
  const root: Node = empty();
  for (const [name, value] of pairs) {
    const [head = "", ...rest] = name.split("[");
    place(root, [head, ...rest.map((part) => part.replace(/\]$/, ""))], value);
  }
  return Object.fromEntries(Object.entries(root).map(([key, value]) => [key, grow(value)]));
}

/** Without a prototype, so that no parameter name is special. */
const empty = (): Node => Object.create(null) as Node;

function place(node: Node, [key = "", ...rest]: string[], value: string): void {
  const name = key === "" ? String(Object.keys(node).length) : key;
  if (rest.length === 0) {
    node[name] = value;
    return;
  }
  const next = node[name];
  const child = typeof next === "object" ? next : empty();
  node[name] = child;
  place(child, rest, value);
}

function grow(node: string | Node): Tree {
  if (typeof node === "string") return node;
  const entries = Object.entries(node).map(([key, value]) => [key, grow(value)] as const);
  const isList = entries.length > 0 && entries.every(([key]) => /^\d+$/.test(key));
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

export const flag = z.enum(["true", "false"]).transform((word) => word === "true");
export const whole = z
  .string()
  .regex(/^\d{1,12}$/, "must be a whole number")
  .transform(Number);
/** An empty value unsets the key; an empty whole unsets all. */
export const metadata = z.union([z.literal(""), z.record(z.string(), z.string())]);

export function mergeMetadata(
  old: Record<string, string>,
  change: z.output<typeof metadata> = {},
): Record<string, string> {
  const merged = change === "" ? {} : { ...old, ...change };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ""));
}

export function readParams<T>(shape: z.ZodType<T>, tree: { [key: string]: Tree }): T {
  const parsed = shape.safeParse(tree, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (!issue) throw new Error("refused without an issue", { cause: parsed.error });
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => bracketed([...issue.path, key]));
    const message = `Received unknown parameter${names.length > 1 ? "s" : ""}: ${names.join(", ")}`;
    throw invalidRequest(message, { code: "parameter_unknown", param: names[0] ?? "" });
  }
  const param = bracketed(issue.path);
  if (issue.input === undefined) {
    throw invalidRequest(`Missing required param: ${param}.`, { code: "parameter_missing", param });
  }
  throw invalidRequest(`Invalid ${param}: ${issue.message}`, { param });
}

function bracketed([head = "", ...rest]: PropertyKey[]): string {
  return String(head) + rest.map((part) => `[${String(part)}]`).join("");
}
