import type { ByteRange } from "./storage/storage.ts";

const single = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)$/i;

/**
 * The part of `sizeBytes` that a `Range` header asks for (RFC 9110, 14.1.2). Null: the header says nothing we follow (no
 * bytes, not well-formed, several ranges), so the whole is the answer. "unsatisfiable": nothing of it is there.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | "unsatisfiable" | null {
  const [, first = "", last = ""] = single.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? "unsatisfiable" : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  const end = last === "" ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return null;
  if (start >= sizeBytes) return "unsatisfiable";
  return { start, end: Math.min(end, sizeBytes - 1) };
}
