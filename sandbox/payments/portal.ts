import { z } from "zod";
import type { Api } from "./api.ts";
import { find } from "./refusals.ts";
import { newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { PortalSession } from "./session-shapes.ts";

const flowed = z.strictObject({ subscription: z.string() });
const shape = z.strictObject({
  customer: z.string(),
  return_url: z.url({ protocol: /^https?$/, error: "Not a valid URL" }).optional(),
  configuration: z.string().optional(),
  locale: z.string().optional(),
  flow_data: z
    .strictObject({
      type: z.enum([
        "payment_method_update",
        "subscription_cancel",
        "subscription_update",
        "subscription_update_confirm",
      ]),
      subscription_cancel: flowed.optional(),
      subscription_update: flowed.optional(),
      subscription_update_confirm: flowed.extend({ items: z.array(z.unknown()) }).optional(),
      after_completion: z.unknown().optional(),
    })
    .optional(),
});

export function portalRoutes(api: Api, payments: Payments): void {
  const endpoint = { path: "/billing_portal/sessions", name: "portal.create", shape };
  api.post(endpoint, (input) => {
    find(payments.customers, "customer", input.customer, "customer");
    const id = newId("bps");
    const session: PortalSession = {
      id,
      object: "billing_portal.session",
      configuration: input.configuration ?? "bpc_sandbox",
      created: payments.now(),
      customer: input.customer,
      flow: input.flow_data ?? null,
      livemode: false,
      locale: input.locale ?? null,
      return_url: input.return_url ?? null,
      url: `${payments.origin}/payments/portal/${id}`,
    };
    payments.portals.set(id, session);
    return session;
  });
}
