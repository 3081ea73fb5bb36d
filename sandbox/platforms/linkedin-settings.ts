import { z } from "zod";
import { send } from "../answer.ts";
import { controlBody } from "../control-body.ts";
import type { Frame } from "../service.ts";
import type { LinkedIn, Settings } from "./linkedin-state.ts";

/** LinkedIn allows 150 calls per member and 100,000 per app; crash tests post thousands as one member. */
const defaults: Settings = {
  memberDailyLimit: 1_000_000,
  appDailyLimit: 10_000_000,
  redirectUris: [],
  refusesDuplicates: true,
};

const change = z
  .strictObject({
    memberDailyLimit: z.int().min(0),
    appDailyLimit: z.int().min(0),
    redirectUris: z.array(z.url()),
    refusesDuplicates: z.boolean(),
  })
  .partial();

export function settingsOf({ settings }: LinkedIn): Settings {
  return { ...defaults, ...settings.get("current") };
}

/** `/_control`: what the owner of an app sets at LinkedIn, kept over restarts. `DELETE` restores the defaults. */
export function settingsRoutes({ app, note }: Frame, linkedin: LinkedIn): void {
  app.get("/_control", () => settingsOf(linkedin));
  app.post("/_control", async (request, reply) => {
    const changed = await controlBody(change, "settings", request, reply);
    if (!changed) return;
    linkedin.settings.set("current", { ...settingsOf(linkedin), ...changed });
    await note("linkedin.control", JSON.stringify(changed));
    await send(reply, { status: 200, body: settingsOf(linkedin) });
  });
  app.delete("/_control", async () => {
    linkedin.settings.delete("current");
    await note("linkedin.control", "defaults");
    return settingsOf(linkedin);
  });
}
