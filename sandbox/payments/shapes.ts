/** What travels, in the shapes of Stripe's version `dahlia`. Times are seconds since 1970, amounts are cents. */
export type Metadata = Record<string, string>;

export interface List<T> {
  object: "list";
  data: T[];
  has_more: boolean;
  url: string;
}

export interface Product {
  id: string;
  object: "product";
  active: boolean;
  created: number;
  default_price: string;
  description: string | null;
  livemode: false;
  metadata: Metadata;
  name: string;
}

export interface Price {
  id: string;
  object: "price";
  active: boolean;
  billing_scheme: "per_unit";
  created: number;
  currency: string;
  livemode: false;
  lookup_key: string | null;
  metadata: Metadata;
  nickname: string | null;
  product: string;
  recurring: { interval: "month"; interval_count: number; usage_type: "licensed" };
  type: "recurring";
  unit_amount: number;
  unit_amount_decimal: string;
}

export interface Customer {
  id: string;
  object: "customer";
  /** Below zero: credit that the next invoices use up. */
  balance: number;
  created: number;
  currency: string | null;
  description: string | null;
  email: string | null;
  invoice_settings: { default_payment_method: string | null };
  livemode: false;
  metadata: Metadata;
  name: string | null;
}

export interface PaymentMethod {
  id: string;
  object: "payment_method";
  card: { brand: string; last4: string; exp_month: number; exp_year: number };
  created: number;
  customer: string;
  livemode: false;
  type: "card";
}

export interface SubscriptionItem {
  id: string;
  object: "subscription_item";
  created: number;
  current_period_start: number;
  current_period_end: number;
  metadata: Metadata;
  price: Price;
  quantity: number;
  subscription: string;
}

export interface PendingUpdate {
  billing_cycle_anchor: number | null;
  expires_at: number;
  subscription_items: SubscriptionItem[];
  trial_end: number | null;
  trial_from_plan: boolean | null;
}

export type MissingMethod = "cancel" | "create_invoice" | "pause";

export interface Subscription {
  id: string;
  object: "subscription";
  billing_cycle_anchor: number;
  billing_mode: { type: "flexible" };
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  canceled_at: number | null;
  cancellation_details: { comment: string | null; feedback: string | null; reason: string | null };
  collection_method: "charge_automatically";
  created: number;
  currency: string;
  customer: string;
  default_payment_method: string | null;
  discounts: [];
  ended_at: number | null;
  items: List<SubscriptionItem>;
  latest_invoice: string | null;
  livemode: false;
  metadata: Metadata;
  pause_collection: null;
  pending_setup_intent: null;
  pending_update: PendingUpdate | null;
  start_date: number;
  status: "trialing" | "active" | "past_due" | "unpaid" | "canceled" | "paused";
  trial_end: number | null;
  trial_settings: { end_behavior: { missing_payment_method: MissingMethod } };
  trial_start: number | null;
}

export interface InvoiceLine {
  id: string;
  object: "line_item";
  amount: number;
  currency: string;
  description: string;
  invoice: string | null;
  livemode: false;
  metadata: Metadata;
  parent: {
    type: "subscription_item_details";
    invoice_item_details: null;
    subscription_item_details: {
      proration: boolean;
      subscription: string;
      subscription_item: string;
    };
  };
  period: { start: number; end: number };
  pricing: {
    type: "price_details";
    price_details: { price: string; product: string };
    unit_amount_decimal: string;
  };
  quantity: number;
}

export type BillingReason = "subscription_create" | "subscription_cycle" | "subscription_update";

export interface Invoice {
  id: string;
  object: "invoice";
  amount_due: number;
  amount_paid: number;
  amount_remaining: number;
  attempt_count: number;
  attempted: boolean;
  auto_advance: boolean;
  automatically_finalizes_at: number | null;
  billing_reason: BillingReason;
  collection_method: "charge_automatically";
  created: number;
  currency: string;
  customer: string;
  customer_email: string | null;
  customer_name: string | null;
  ending_balance: number | null;
  hosted_invoice_url: string | null;
  invoice_pdf: null;
  last_finalization_error: null;
  lines: List<InvoiceLine>;
  livemode: false;
  metadata: Metadata;
  next_payment_attempt: number | null;
  number: string | null;
  parent: {
    type: "subscription_details";
    quote_details: null;
    subscription_details: { metadata: Metadata; subscription: string };
  };
  period_start: number;
  period_end: number;
  starting_balance: number;
  status: "draft" | "open" | "paid" | "uncollectible" | "void";
  status_transitions: {
    finalized_at: number | null;
    marked_uncollectible_at: number | null;
    paid_at: number | null;
    voided_at: number | null;
  };
  subtotal: number;
  total: number;
}

/** Which payment intent pays an invoice. */
export interface InvoicePayment {
  id: string;
  object: "invoice_payment";
  amount_paid: number | null;
  amount_requested: number;
  created: number;
  currency: string;
  invoice: string;
  is_default: true;
  livemode: false;
  payment: { type: "payment_intent"; payment_intent: string };
  status: "open" | "paid" | "canceled";
}

export interface CardError {
  type: "card_error";
  code: string;
  decline_code?: string;
  message: string;
}

export interface PaymentIntent {
  id: string;
  object: "payment_intent";
  amount: number;
  amount_received: number;
  client_secret: string;
  created: number;
  currency: string;
  customer: string;
  last_payment_error: CardError | null;
  livemode: false;
  metadata: Metadata;
  next_action: { type: "use_stripe_sdk"; use_stripe_sdk: object } | null;
  payment_method: string | null;
  status:
    | "requires_payment_method"
    | "requires_confirmation"
    | "requires_action"
    | "succeeded"
    | "canceled";
}
