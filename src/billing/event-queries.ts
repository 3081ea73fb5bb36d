import type { Db } from "../db/index.ts";
import type { StoredEvent } from "./event-order.ts";
import type { Notice } from "./history.ts";

export interface NewEvent extends StoredEvent {
  subscriptionId: string | null;
}

/** False: it was told before. */
export async function insertEvent(db: Db, event: NewEvent): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "insert_payment_event",
    text: `insert into payment_events (id, type, created_at, subscription_id, payload, previous)
           values ($1, $2, $3, $4, $5, $6)
           on conflict do nothing`,
    values: [
      event.id,
      event.type,
      event.createdAt,
      event.subscriptionId,
      JSON.stringify(event.payload),
      JSON.stringify(event.previous),
    ],
  });
  return rowCount === 1;
}

/** Whoever changes what is known of a subscription waits for the others. */
export async function lockSubscription(tx: Db, subscriptionId: string): Promise<void> {
  await tx.query({
    name: "lock_subscription",
    text: "select pg_advisory_xact_lock(hashtextextended('subscription ' || $1, 0))",
    values: [subscriptionId],
  });
}

/** And whoever chooses among the subscriptions of one user. */
export async function lockPayer(tx: Db, userId: string): Promise<void> {
  await tx.query({
    name: "lock_payer",
    text: "select pg_advisory_xact_lock(hashtextextended('payer ' || $1, 0))",
    values: [userId],
  });
}

export async function eventsOf(db: Db, subscriptionId: string): Promise<StoredEvent[]> {
  const { rows } = await db.query<StoredEvent>({
    name: "events_of_subscription",
    text: `select id, type, created_at as "createdAt", payload, previous from payment_events where subscription_id = $1`,
    values: [subscriptionId],
  });
  return rows;
}

export async function insertNotice(
  db: Db,
  userId: string,
  { kind, key, details }: Omit<Notice, "kind"> & { kind: string },
): Promise<void> {
  await db.query({
    name: "insert_notice",
    text: `insert into notices (user_id, kind, key, details) values ($1, $2, $3, $4) on conflict (key) do nothing`,
    values: [userId, kind, key, JSON.stringify(details)],
  });
}

export interface NoticeRow {
  id: string;
  kind: string;
  details: Record<string, unknown>;
  createdAt: Date;
  readAt: Date | null;
}

export async function listNotices(db: Db, userId: string): Promise<NoticeRow[]> {
  const { rows } = await db.query<NoticeRow>({
    name: "list_notices",
    text: `select id, kind, details, created_at as "createdAt", read_at as "readAt" from notices
           where user_id = $1 order by id desc limit 100`,
    values: [userId],
  });
  return rows;
}

export async function readNotice(db: Db, userId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "read_notice",
    text: "update notices set read_at = coalesce(read_at, now()) where user_id = $1 and id = $2",
    values: [userId, id],
  });
  return rowCount === 1;
}

export async function customerOf(db: Db, userId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ customer_id: string }>({
    name: "customer_of",
    text: "select customer_id from billing_customers where user_id = $1",
    values: [userId],
  });
  return rows[0]?.customer_id;
}

export async function userOfCustomer(db: Db, customerId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ user_id: string }>({
    name: "user_of_customer",
    text: "select user_id from billing_customers where customer_id = $1",
    values: [customerId],
  });
  return rows[0]?.user_id;
}

/** The first one stays. */
export async function saveCustomer(db: Db, userId: string, customerId: string): Promise<string> {
  await db.query({
    name: "save_customer",
    text: "insert into billing_customers (user_id, customer_id) values ($1, $2) on conflict do nothing",
    values: [userId, customerId],
  });
  return (await customerOf(db, userId)) ?? customerId;
}

/** False: this session was finished before. */
export async function finishSession(
  db: Db,
  session: { sessionId: string; userId: string; subscriptionId: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "finish_session",
    text: `insert into checkout_sessions (id, user_id, subscription_id) values ($1, $2, $3) on conflict do nothing`,
    values: [session.sessionId, session.userId, session.subscriptionId],
  });
  return rowCount === 1;
}
