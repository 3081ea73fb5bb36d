import { randomUUID } from "node:crypto";

/** Version 7: the time in front, so that ids sort by creation and new rows land side by side in the index. */
export function uuidv7(now: number = Date.now()): string {
  const time = now.toString(16).padStart(12, "0");
  // A version 4 id has its random digits and the variant where version 7 wants them.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
