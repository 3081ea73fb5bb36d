import { isDeepStrictEqual } from "node:util";

// The order in which events happened, whatever the order in which they came. Their time has whole seconds only.

export interface StoredEvent {
  id: string;
  type: string;
  createdAt: Date;
  /** The event's object. */
  payload: unknown;
  /** What those of its fields were before that the event is about. */
  previous: unknown;
}

/** For events of one second: what can only come after the others stands after them. */
const ranks: Record<string, number> = {
  "checkout.session.completed": 0,
  "checkout.session.verified": 1,
  "customer.subscription.created": 2,
  "customer.subscription.updated": 3,
  "customer.subscription.paused": 3,
  "customer.subscription.resumed": 3,
  "customer.subscription.pending_update_applied": 3,
  "customer.subscription.pending_update_expired": 3,
  "customer.subscription.trial_will_end": 4,
  "invoice.payment_failed": 5,
  "invoice.payment_succeeded": 6,
  "customer.subscription.deleted": 7,
};

export const isKnownType = (type: string): boolean => type in ranks;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Whether the one leaves things as the other found them. */
function leadsTo(first: StoredEvent, second: StoredEvent): boolean {
  const { previous } = second;
  const { payload } = first;
  if (!isRecord(previous) || !isRecord(payload)) return false;
  return Object.entries(previous).every(([name, was]) =>
    isDeepStrictEqual(payload[name] ?? null, was ?? null),
  );
}

/** Events of one second and rank: by what each changed. Where that tells nothing, by id: any order will do, but one. */
function chain(events: StoredEvent[]): StoredEvent[] {
  const left = events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ordered: StoredEvent[] = [];
  while (left.length > 0) {
    const isFirst = (event: StoredEvent): boolean =>
      left.every((other) => other === event || !leadsTo(other, event) || leadsTo(event, other));
    const next = left.find(isFirst) ?? left[0];
    if (!next) break;
    ordered.push(next);
    left.splice(left.indexOf(next), 1);
  }
  return ordered;
}

export function inOrder(events: readonly StoredEvent[]): StoredEvent[] {
  const placeOf = ({ createdAt, type }: StoredEvent): number =>
    createdAt.getTime() + (ranks[type] ?? 0);
  const groups = Map.groupBy(events, placeOf);
  return [...groups].toSorted(([a], [b]) => a - b).flatMap(([, group]) => chain(group));
}
