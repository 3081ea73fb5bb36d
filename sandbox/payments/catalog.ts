import { z } from "zod";
import type { Api } from "./api.ts";
import { emit } from "./events.ts";
import { flag } from "./form.ts";
import { listOf, listShape, nothing } from "./lists.ts";
import { find } from "./refusals.ts";
import type { Payments } from "./state.ts";
import type { Metadata, Price } from "./shapes.ts";

const plans = [
  { id: "starter", name: "Starter", unitAmount: 1900, credits: 60 },
  { id: "pro", name: "Pro", unitAmount: 4900, credits: 300 },
];

/** The two plans that this world sells. */
export function seedCatalog({ products, prices }: Payments): void {
  const created = Date.UTC(2026, 0, 1) / 1000;
  for (const { id, name, unitAmount, credits } of plans) {
    if (prices.get(`price_${id}`)) continue;
    products.set(`prod_${id}`, {
      id: `prod_${id}`,
      object: "product",
      active: true,
      created,
      default_price: `price_${id}`,
      description: null,
      livemode: false,
      metadata: {},
      name,
    });
    prices.set(`price_${id}`, {
      id: `price_${id}`,
      object: "price",
      active: true,
      billing_scheme: "per_unit",
      created,
      currency: "usd",
      livemode: false,
      lookup_key: id,
      metadata: { credits_per_period: String(credits), plan_id: id },
      nickname: name,
      product: `prod_${id}`,
      recurring: { interval: "month", interval_count: 1, usage_type: "licensed" },
      type: "recurring",
      unit_amount: unitAmount,
      unit_amount_decimal: String(unitAmount),
    });
  }
}

/** Subscriptions show their price as it is now, without an event of their own. */
export function describePrice(payments: Payments, id: string, metadata: Metadata): Price {
  const old = find(payments.prices, "price", id);
  const price = { ...old, metadata };
  payments.prices.set(id, price);
  for (const subscription of payments.subscriptions.values()) {
    const data = subscription.items.data.map((item) =>
      item.price.id === id ? { ...item, price } : item,
    );
    const items = { ...subscription.items, data };
    payments.subscriptions.set(subscription.id, { ...subscription, items });
  }
  emit(payments, "price.updated", price, { metadata: old.metadata });
  return price;
}

export function catalogRoutes(api: Api, payments: Payments): void {
  const isActive = { active: flag.optional() };
  api.get(
    {
      path: "/prices",
      name: "prices.list",
      shape: listShape.extend({
        ...isActive,
        product: z.string().optional(),
        lookup_keys: z.array(z.string()).optional(),
      }),
    },
    ({ active, product, lookup_keys: keys, ...page }) => {
      const matching = Array.from(payments.prices.values()).filter(
        (price) =>
          (active === undefined || price.active === active) &&
          (product === undefined || price.product === product) &&
          (keys === undefined || keys.includes(price.lookup_key ?? "")),
      );
      return listOf(page, matching, "/v1/prices");
    },
  );
  api.get({ path: "/prices/:id", name: "prices.retrieve", shape: nothing }, (_input, id) =>
    find(payments.prices, "price", id),
  );
  api.get(
    { path: "/products", name: "products.list", shape: listShape.extend(isActive) },
    ({ active, ...page }) => {
      const matching = Array.from(payments.products.values()).filter(
        (product) => active === undefined || product.active === active,
      );
      return listOf(page, matching, "/v1/products");
    },
  );
  api.get({ path: "/products/:id", name: "products.retrieve", shape: nothing }, (_input, id) =>
    find(payments.products, "product", id),
  );
}
