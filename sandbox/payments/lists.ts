import { z } from "zod";
import { whole } from "./form.ts";
import { missing } from "./refusals.ts";
import type { List } from "./shapes.ts";

export const nothing = z.strictObject({});

export const listShape = z.strictObject({
  limit: whole.refine((limit) => limit >= 1 && limit <= 100, "must be 1 to 100").default(10),
  starting_after: z.string().optional(),
  ending_before: z.string().optional(),
});

/** One page, the newest first. */
export function listOf<T extends { id: string }>(
  input: z.output<typeof listShape>,
  values: Iterable<T>,
  url: string,
): List<T> {
  const all = Array.from(values).toReversed();
  const { limit, starting_after: after, ending_before: before } = input;
  const cursor = after ?? before;
  const place = cursor === undefined ? -1 : all.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && place === -1) {
    throw missing("object", cursor, after === undefined ? "ending_before" : "starting_after");
  }
  const isBackward = after === undefined && before !== undefined;
  const rest = isBackward ? all.slice(0, place) : all.slice(place + 1);
  const data = isBackward ? rest.slice(-limit) : rest.slice(0, limit);
  return { object: "list", data, has_more: rest.length > limit, url };
}
