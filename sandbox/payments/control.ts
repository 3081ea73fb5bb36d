import { z } from "zod";
import { send } from "../answer.ts";
import { controlBody, refuse } from "../control-body.ts";
import type { Frame } from "../service.ts";
import { describePrice } from "./catalog.ts";
import { deliver } from "./events.ts";
import { settingsOf } from "./settings.ts";
import type { Payments } from "./state.ts";
import { catchUp } from "./timeline.ts";

const change = z
  .strictObject({
    endpoint: z.url().nullable(),
    secrets: z.array(z.string().startsWith("whsec_")).min(1),
    isDuplicating: z.boolean(),
    isShuffling: z.boolean(),
    delayMs: z.int().min(0).max(60_000),
    apiVersion: z.enum(["dahlia", "acacia"]),
    signatureAgeSeconds: z.int(),
    processingMs: z.int().min(0).max(60_000),
    finalizeAfterSeconds: z.int().min(0),
    afterRetries: z.enum(["cancel", "unpaid", "past_due"]),
  })
  .partial();
const resend = z.strictObject({ event: z.string() });
const description = z.strictObject({ metadata: z.record(z.string(), z.string()) });

/** `/_control`: what an account's owner sets in the dashboard, and how its deliveries misbehave. */
export function controlRoutes({ app, note }: Frame, payments: Payments): void {
  app.get("/_control", () => settingsOf(payments));
  app.post("/_control", async (request, reply) => {
    const changed = await controlBody(change, "settings", request, reply);
    if (!changed) return;
    payments.settings.set("current", { ...payments.settings.get("current"), ...changed });
    await note("payments.control", JSON.stringify(changed));
    await send(reply, { status: 200, body: settingsOf(payments) });
  });
  app.delete("/_control", async () => {
    payments.settings.delete("current");
    await note("payments.control", "defaults");
    return settingsOf(payments);
  });

  app.post("/_control/prices/:id", async (request, reply) => {
    const given = await controlBody(description, "description", request, reply);
    if (!given) return;
    const { id } = request.params as { id: string };
    if (!payments.prices.get(id)) return await refuse(reply, `there is no price ${id}`, []);
    const price = describePrice(payments, id, given.metadata);
    await note("payments.control", `${id} ${JSON.stringify(given.metadata)}`);
    await send(reply, { status: 200, body: price });
  });

  app.get("/_control/deliveries", async () => {
    const done = catchUp(payments);
    if (done.length > 0) await note("payments.clock", done.join(", "));
    const counts = { pending: 0, delivered: 0, failed: 0 };
    for (const { status } of payments.deliveries.values()) counts[status]++;
    return counts;
  });
  app.post("/_control/resend", async (request, reply) => {
    const given = await controlBody(resend, "event", request, reply);
    if (!given) return;
    const event = payments.events.get(given.event);
    if (!event) return await refuse(reply, `there is no event ${given.event}`, []);
    deliver(payments, event.id);
    await note("payments.control", `${event.type} ${event.id} again`);
    await send(reply, { status: 200, body: event });
  });
}
