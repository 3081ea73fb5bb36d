import { intentOf, paymentOf } from "./intents.ts";
import { invalidRequest } from "./refusals.ts";
import { must } from "./state.ts";
import type { Payments } from "./state.ts";

type Fields = Record<string, unknown>;

/** The object with the named references filled in, e.g. `latest_invoice.confirmation_secret`. */
export function expand(payments: Payments, object: object, paths: readonly string[]): object {
  return paths.reduce<object>(
    (result, path) => fill(payments, result as Fields, path.split("."), path),
    object,
  );
}

function fill(payments: Payments, object: Fields, keys: string[], path: string): Fields {
  const [key = "", ...rest] = keys;
  const value = Object.hasOwn(object, key) ? object[key] : hidden(payments, object, key);
  if (value === undefined) throw cannotExpand(path);
  const filled = typeof value === "string" ? referred(payments, value, path) : value;
  if (typeof filled !== "object" || filled === null || rest.length === 0) {
    return { ...object, [key]: filled };
  }
  const deeper = Array.isArray(filled)
    ? filled.map((each: Fields) => fill(payments, each, rest, path))
    : fill(payments, filled as Fields, rest, path);
  return { ...object, [key]: deeper };
}

/** What an object has only when it is asked for. */
function hidden(payments: Payments, object: Fields, key: string): unknown {
  const id = String(object["id"]);
  if (object["object"] === "invoice" && key === "confirmation_secret") {
    const secret = intentOf(payments, id)?.client_secret;
    return secret === undefined ? null : { client_secret: secret, type: "payment_intent" };
  }
  if (object["object"] === "invoice" && key === "payments") {
    const payment = paymentOf(payments, id);
    return listed(payment ? [payment] : [], `/v1/invoice_payments?invoice=${id}`);
  }
  if (object["object"] === "checkout.session" && key === "line_items") {
    const items = must(payments.orders, id).lineItems.map((item) => {
      const price = must(payments.prices, item.price);
      const amount = price.unit_amount * item.quantity;
      const amounts = { amount_subtotal: amount, amount_total: amount };
      return { ...item, object: "item", ...amounts, currency: price.currency, price };
    });
    return listed(items, `/v1/checkout/sessions/${id}/line_items`);
  }
  return undefined;
}

function listed(data: unknown[], url: string): Fields {
  return { object: "list", data, has_more: false, url };
}

function referred(payments: Payments, id: string, path: string): unknown {
  const collections = {
    cus: payments.customers,
    in: payments.invoices,
    pi: payments.intents,
    pm: payments.methods,
    price: payments.prices,
    prod: payments.products,
    sub: payments.subscriptions,
  };
  const prefix = id.split("_")[0] ?? "";
  const collection = Object.entries(collections).find(([name]) => name === prefix)?.[1];
  const found = collection?.get(id);
  if (!found) throw cannotExpand(path);
  return found;
}

function cannotExpand(path: string): Error {
  return invalidRequest(`This property cannot be expanded (${path}).`, { param: "expand" });
}
