// What the service says it takes, written down a second time and in other words, to hold it to.

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function isAcceptable(value: unknown, depth = 1): boolean {
  if (typeof value === "string") return isStorable(value);
  if (value === null || typeof value !== "object") return true;
  return (
    depth <= 64 &&
    Object.entries(value).every(
      ([key, part]) =>
        isStorable(key) &&
        key !== "__proto__" &&
        key !== "constructor" &&
        isAcceptable(part, depth + 1),
    )
  );
}

/** Whether a key is made of this body. A key given twice is beyond this model: `JSON.parse` hides it. */
export function isKeyBody(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return true;
  let value: unknown;
  try {
    value = JSON.parse(strictUtf8.decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  if (!isAcceptable(value)) return false;
  const { name, ...others } = value as { name?: unknown };
  if (Object.keys(others).length > 0) return false;
  if (name === undefined) return true;
  const length = typeof name === "string" ? Array.from(name).length : 0;
  return length >= 1 && length <= 100;
}
