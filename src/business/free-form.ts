import { z } from "zod";

/** What a value of the caller's own making may take as JSON. */
export const maxFreeBytes = 262_144;

const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

interface Fault {
  path: PropertyKey[];
  message: string;
  code: string;
}

/** The JSON reader lets these through: names that reach a prototype, and numbers that JSON can't say again. */
function* faultsOf(value: unknown, path: PropertyKey[] = []): Generator<Fault> {
  if (typeof value === "number" && !Number.isFinite(value)) {
    yield { path, message: "The number is too large", code: "too_big" };
  } else if (value !== null && typeof value === "object") {
    for (const [key, part] of Object.entries(value)) {
      const at = [...path, Array.isArray(value) ? Number(key) : key];
      if (forbiddenKeys.has(key))
        yield { path: at, message: "This name is not allowed", code: "unrecognized_keys" };
      else yield* faultsOf(part, at);
    }
  }
}

function* allFaultsOf(value: unknown): Generator<Fault> {
  yield* faultsOf(value);
  if (Buffer.byteLength(JSON.stringify(value)) > maxFreeBytes) {
    const message = `This takes more than ${maxFreeBytes} bytes as JSON`;
    yield { path: [], message, code: "too_big" };
  }
}

/** Holds a shape with room for the caller's own fields to what can be stored and given back. */
export function freeForm<Shape extends z.ZodType>(shape: Shape): Shape {
  return shape.superRefine((value, context) => {
    for (const { path, message, code } of allFaultsOf(value))
      context.addIssue({ code: "custom", path, message, params: { code } });
  });
}

export const freeObject = freeForm(z.record(z.string(), z.unknown()));
