import { hash, randomUUID } from "node:crypto";
import { acceptMany } from "../../src/posts/queries.ts";
import { uuidv7 } from "../../src/posts/uuid.ts";
import type { Stage } from "./stage.ts";

export interface Queued {
  id: string;
  text: string;
  dueAt: Date | null;
}

/** Puts posts into the queue as the API does, past its limit of 30 a minute. */
export async function queueUp(
  stage: Stage,
  userIndex: number,
  dueTimes: (Date | null)[],
  mark: string,
): Promise<Queued[]> {
  const user = stage.users[userIndex];
  if (!user) throw new Error("there is no such user");
  const queued: Queued[] = dueTimes.map((dueAt, index) => ({
    id: uuidv7(),
    text: `${mark} ${index} ${randomUUID()}`,
    dueAt,
  }));
  for (let at = 0; at < queued.length; at += 100) {
    await acceptMany(
      stage.db,
      queued.slice(at, at + 100).map(({ id, text, dueAt }) => ({
        id,
        userId: user.userId,
        keyId: user.keyId,
        endpoint: "POST /v1/posts",
        keyHash: hash("sha256", id),
        bodyHash: hash("sha256", text),
        answer: "sealed",
        content: { text },
        targets: [
          { targetId: "linkedin:Ada1815_Lv", platform: "linkedin", accountId: "Ada1815_Lv" },
        ],
        scheduledTime: dueAt?.toISOString() ?? null,
        enableRepurposing: false,
        trialReel: false,
      })),
    );
  }
  return queued;
}

/** When the platform accepted each text, and how often. */
export async function acceptances(stage: Stage): Promise<Map<string, Date[]>> {
  const found = new Map<string, Date[]>();
  for (let after = 0; ;) {
    const query = `operation=linkedin.ugcPosts.create&accepted=true&limit=500&after=${after}`;
    const answer = await fetch(`${stage.sandboxUrl}/_sandbox/journal?${query}`);
    const { entries, next } = (await answer.json()) as {
      entries: { at: string; request: { body: string } }[];
      next: number | null;
    };
    for (const { at, request } of entries) {
      const text = /"text":"([^"]+)"/.exec(request.body)?.[1] ?? "";
      found.set(text, [...(found.get(text) ?? []), new Date(at)]);
    }
    if (next === null) return found;
    after = next;
  }
}

export const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN;
