import { randomBytes } from "node:crypto";
import type { Frame } from "../service.ts";
import type { Collection } from "../store.ts";
import type {
  CheckoutOrder,
  CheckoutSession,
  PortalSession,
  StripeEvent,
} from "./session-shapes.ts";
import type {
  Customer,
  Invoice,
  InvoiceLine,
  InvoicePayment,
  PaymentIntent,
  PaymentMethod,
  Price,
  Product,
  Subscription,
} from "./shapes.ts";

/** Real milliseconds: deliveries do not wait for this world's clock. */
export interface Delivery {
  eventId: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  dueAtMs: number;
}

export interface Reply {
  fingerprint: string;
  status: number;
  body: unknown;
  requestId: string;
  createdAt: number;
}

export interface Settings {
  endpoint: string | null;
  /** Every one of them signs: two during a rotation. */
  secrets: string[];
  isDuplicating: boolean;
  isShuffling: boolean;
  delayMs: number;
  apiVersion: "dahlia" | "acacia";
  signatureAgeSeconds: number;
  processingMs: number;
  finalizeAfterSeconds: number;
  afterRetries: "cancel" | "unpaid" | "past_due";
}

export interface RequestRef {
  id: string | null;
  idempotency_key: string | null;
}

interface Scene {
  moment?: number;
  request?: RequestRef;
}

export interface Payments {
  products: Collection<Product>;
  prices: Collection<Price>;
  customers: Collection<Customer>;
  methods: Collection<PaymentMethod>;
  /** The numbers behind the payment methods. */
  cards: Collection<{ number: string }>;
  sessions: Collection<CheckoutSession>;
  orders: Collection<CheckoutOrder>;
  subscriptions: Collection<Subscription>;
  /** Prorations that wait for the subscription's next invoice. */
  waitingLines: Collection<InvoiceLine[]>;
  /** For which trial end a subscription was warned. */
  warned: Collection<{ trialEnd: number }>;
  invoices: Collection<Invoice>;
  invoicePayments: Collection<InvoicePayment>;
  intents: Collection<PaymentIntent>;
  portals: Collection<PortalSession>;
  events: Collection<StripeEvent>;
  deliveries: Collection<Delivery>;
  replies: Collection<Reply>;
  settings: Collection<Partial<Settings>>;
  /** Keys of the requests that are being worked on. */
  busyKeys: Set<string>;
  /** Whose doing it is, and when: set around one synchronous act. */
  scene: Scene;
  /** The sandbox's address as callers write it, for the pages that objects point at. */
  origin: string;
  note: Frame["note"];
  now: () => number;
}

export function stateOf({ collection, note, now }: Frame): Payments {
  const payments: Payments = {
    products: collection("products"),
    prices: collection("prices"),
    customers: collection("customers"),
    methods: collection("methods"),
    cards: collection("cards"),
    sessions: collection("sessions"),
    orders: collection("orders"),
    subscriptions: collection("subscriptions"),
    waitingLines: collection("waitingLines"),
    warned: collection("warned"),
    invoices: collection("invoices"),
    invoicePayments: collection("invoicePayments"),
    intents: collection("intents"),
    portals: collection("portals"),
    events: collection("events"),
    deliveries: collection("deliveries"),
    replies: collection("replies"),
    settings: collection("settings"),
    busyKeys: new Set(),
    scene: {},
    origin: "",
    note,
    now: () => payments.scene.moment ?? Math.floor(now() / 1000),
  };
  return payments;
}

/** Runs one act at its moment, or for its request; whatever it records carries that. */
export function during<T>(payments: Payments, scene: Scene, act: () => T): T {
  const { scene: outer } = payments;
  payments.scene = { ...outer, ...scene };
  try {
    return act();
  } finally {
    payments.scene = outer;
  }
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function newId(prefix: string): string {
  const name = Array.from(randomBytes(24), (byte) => letters[byte % letters.length]).join("");
  return `${prefix}_${name}`;
}

/** Where an id of this world itself leads; what is missing here is the twin's own mistake. */
export function must<T>(collection: Collection<T>, id: string): T {
  const value = collection.get(id);
  if (value === undefined) throw new Error(`nothing is stored as ${id}`);
  return value;
}
