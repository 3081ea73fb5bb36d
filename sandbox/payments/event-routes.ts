import { z } from "zod";
import type { Api } from "./api.ts";
import { listOf, listShape, nothing } from "./lists.ts";
import { find } from "./refusals.ts";
import type { Payments } from "./state.ts";

export function eventRoutes(api: Api, payments: Payments): void {
  const shape = listShape.extend({
    type: z.string().optional(),
    types: z.array(z.string()).optional(),
    delivery_success: z.enum(["true", "false"]).optional(),
  });
  api.get({ path: "/events", name: "events.list", shape }, (input) => {
    const { type, types, delivery_success: success, ...page } = input;
    const matching = Array.from(payments.events.values()).filter(
      (event) =>
        (type === undefined || event.type === type) &&
        (types === undefined || types.includes(event.type)) &&
        (success === undefined ||
          (payments.deliveries.get(event.id)?.status === "delivered") === (success === "true")),
    );
    return listOf(page, matching, "/v1/events");
  });
  api.get({ path: "/events/:id", name: "events.retrieve", shape: nothing }, (_input, id) =>
    find(payments.events, "event", id),
  );
}
