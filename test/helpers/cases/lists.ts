/** One entry a line, so that a long list stays readable. */
export const lines = (text: string): string[] =>
  text.split("\n").flatMap((line) => line.trim() || []);

/** The same for what only escapes can show, written as in JSON; to be used with `String.raw`. */
export const escaped = (text: string): string[] =>
  lines(text).map((line) => JSON.parse(`"${line}"`) as string);

/** Entries without white space, as many on a line as fit. */
export const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/** How a case is called after a value that may be long or not printable. */
export const shown = (text: string): string =>
  `${JSON.stringify(text.slice(0, 40))} (${text.length})`;

/** Every byte that is no printable ASCII, as the parser would hand it on. */
export const oddBytes: readonly string[] = Array.from({ length: 256 }, (_, code) =>
  String.fromCharCode(code),
).filter((character) => !/[\x20-\x7e]/.test(character));
