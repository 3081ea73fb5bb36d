import {
  createPost,
  ensureBusiness,
  saveCompany,
  saveNetworkPost,
  saveParticipant,
} from "./business/index.ts";
import { inTransaction } from "./db/index.ts";
import type { Deps } from "./deps.ts";

const businessId = "demo-business";

const participants = {
  ada: {
    name: "Ada Lovelace",
    role: "Founder",
    themes: [{ type: "expertise", description: "What machines can be taught to do" }],
    values: ["Clarity", "Curiosity"],
    personality: ["Precise", "Playful"],
    writingTechniques: ["Starts with a question"],
  },
  grace: {
    name: "Grace Hopper",
    role: "Engineering lead",
    themes: [{ type: "story", description: "Bugs, and how they were found" }],
    values: ["Candour"],
    personality: ["Direct"],
    writingTechniques: ["Ends with what to try next"],
  },
};

const announcements = [
  "We are hiring: come and teach machines to do something new.",
  "Our first release is out. Thank you to everyone who tried it early.",
  "Behind the scenes: how we found the bug that was an actual moth.",
];

/** A business to try the functions with. Made once, whole or not at all; what was changed since stays. */
export async function prepareDemoBusiness({
  db,
  clock,
}: Pick<Deps, "db" | "clock">): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (!(await ensureBusiness(tx, businessId))) return;
    const now = clock.now();
    await saveCompany(tx, {
      businessId,
      name: "Demo Business",
      url: "https://demo.herald.example",
      description: "Made by the quick start.",
    });
    for (const [id, persona] of Object.entries(participants))
      await saveParticipant(tx, businessId, id, persona);
    for (const [index, content] of announcements.entries())
      await saveNetworkPost(
        tx,
        { businessId, documentId: `urn:li:activity:${7_000_000_000_000 + index}`, content },
        new Date(now.getTime() - (announcements.length - index) * 86_400_000),
      );
    await createPost(
      tx,
      {
        businessId,
        participantId: "ada",
        title: "Hello",
        content: "Hello from the demo business",
        networkPost: { text: "Hello from the demo business" },
        networkPostId: "urn:li:share:7000000000100",
      },
      now,
    );
  });
}
