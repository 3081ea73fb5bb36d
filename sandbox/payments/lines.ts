import { newId } from "./state.ts";
import type { InvoiceLine, Subscription, SubscriptionItem } from "./shapes.ts";

interface LineFacts {
  amount: number;
  description: string;
  period: { start: number; end: number };
  isProration: boolean;
}

function lineOf(item: SubscriptionItem, facts: LineFacts): InvoiceLine {
  const { price, quantity } = item;
  return {
    id: newId("il"),
    object: "line_item",
    amount: facts.amount,
    currency: price.currency,
    description: facts.description,
    invoice: null,
    livemode: false,
    metadata: {},
    parent: {
      type: "subscription_item_details",
      invoice_item_details: null,
      subscription_item_details: {
        proration: facts.isProration,
        subscription: item.subscription,
        subscription_item: item.id,
      },
    },
    period: facts.period,
    pricing: {
      type: "price_details",
      price_details: { price: price.id, product: price.product },
      unit_amount_decimal: price.unit_amount_decimal,
    },
    quantity,
  };
}

/** What the items cost for their current period; a trial costs nothing. */
export function periodLines(items: readonly SubscriptionItem[], isTrial = false): InvoiceLine[] {
  return items.map((item) =>
    lineOf(item, {
      amount: isTrial ? 0 : costOf(item),
      description: isTrial
        ? `Trial period for ${item.price.nickname ?? item.price.id}`
        : `${item.quantity} × ${item.price.nickname ?? item.price.id}`,
      period: { start: item.current_period_start, end: item.current_period_end },
      isProration: false,
    }),
  );
}

/** Credit for the unused rest of what goes, the price of the rest of what comes. */
export function prorationLines(
  { items: { data: old } }: Subscription,
  items: readonly SubscriptionItem[],
  at: number,
): InvoiceLine[] {
  const isSame = (a: SubscriptionItem, b: SubscriptionItem): boolean =>
    a.id === b.id && a.price.id === b.price.id && a.quantity === b.quantity;
  const gone = old.filter((item) => !items.some((other) => isSame(item, other)));
  const come = items.filter((item) => !old.some((other) => isSame(item, other)));
  return [
    ...gone.map((item) => restLine(item, at, "Unused time on", -1)),
    ...come.map((item) => restLine(item, at, "Remaining time on", 1)),
  ];
}

export function unusedLines({ items }: Subscription, at: number): InvoiceLine[] {
  return items.data.map((item) => restLine(item, at, "Unused time on", -1));
}

function restLine(item: SubscriptionItem, at: number, words: string, sign: 1 | -1): InvoiceLine {
  const { current_period_start: start, current_period_end: end } = item;
  const share = (end - at) / (end - start);
  return lineOf(item, {
    amount: sign * Math.round(costOf(item) * share),
    description: `${words} ${item.quantity} × ${item.price.nickname ?? item.price.id}`,
    period: { start: at, end },
    isProration: true,
  });
}

function costOf({ price, quantity }: SubscriptionItem): number {
  return price.unit_amount * quantity;
}
