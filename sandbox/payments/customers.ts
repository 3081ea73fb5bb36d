import { z } from "zod";
import type { Api } from "./api.ts";
import { emit, previousOf } from "./events.ts";
import { mergeMetadata, metadata } from "./form.ts";
import { listOf, listShape, nothing } from "./lists.ts";
import { find } from "./refusals.ts";
import { newId } from "./state.ts";
import type { Payments } from "./state.ts";
import type { Customer } from "./shapes.ts";

const facts = z.strictObject({
  description: z.string().optional(),
  email: z.string().optional(),
  metadata: metadata.optional(),
  name: z.string().optional(),
});

export function createCustomer(payments: Payments, given: z.output<typeof facts>): Customer {
  const customer: Customer = {
    id: newId("cus"),
    object: "customer",
    balance: 0,
    created: payments.now(),
    currency: null,
    description: given.description ?? null,
    email: given.email ?? null,
    invoice_settings: { default_payment_method: null },
    livemode: false,
    metadata: mergeMetadata({}, given.metadata),
    name: given.name ?? null,
  };
  payments.customers.set(customer.id, customer);
  emit(payments, "customer.created", customer);
  return customer;
}

export function customerRoutes(api: Api, payments: Payments): void {
  api.post({ path: "/customers", name: "customers.create", shape: facts }, (given) =>
    createCustomer(payments, given),
  );
  api.get(
    {
      path: "/customers",
      name: "customers.list",
      shape: listShape.extend({ email: z.string().optional() }),
    },
    ({ email, ...page }) => {
      const matching = Array.from(payments.customers.values()).filter(
        (customer) => email === undefined || customer.email === email,
      );
      return listOf(page, matching, "/v1/customers");
    },
  );
  api.get({ path: "/customers/:id", name: "customers.retrieve", shape: nothing }, (_input, id) =>
    find(payments.customers, "customer", id),
  );
  api.post({ path: "/customers/:id", name: "customers.update", shape: facts }, (given, id) => {
    const old = find(payments.customers, "customer", id);
    const { metadata: change, ...rest } = given;
    const changed = { ...old, ...rest, metadata: mergeMetadata(old.metadata, change) };
    payments.customers.set(id, changed);
    emit(payments, "customer.updated", changed, previousOf(old, changed));
    return changed;
  });
}
