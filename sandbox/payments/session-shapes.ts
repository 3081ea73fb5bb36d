import type { Metadata } from "./shapes.ts";

export interface LineItem {
  id: string;
  price: string;
  quantity: number;
}

export interface CheckoutSession {
  id: string;
  object: "checkout.session";
  allow_promotion_codes: boolean | null;
  amount_subtotal: number;
  amount_total: number;
  automatic_tax: { enabled: boolean };
  billing_address_collection: string | null;
  cancel_url: string | null;
  client_reference_id: string | null;
  created: number;
  currency: string;
  customer: string | null;
  customer_details: { email: string | null; name: string | null } | null;
  customer_email: string | null;
  expires_at: number;
  invoice: string | null;
  livemode: false;
  locale: string | null;
  metadata: Metadata;
  mode: "subscription";
  payment_intent: null;
  payment_method_collection: "always" | "if_required";
  payment_status: "unpaid" | "paid" | "no_payment_required";
  status: "open" | "complete" | "expired";
  subscription: string | null;
  success_url: string;
  ui_mode: "hosted_page";
  url: string | null;
}

/** What a session was asked to do when it is paid: Stripe keeps it, and shows it nowhere. */
export interface CheckoutOrder {
  lineItems: LineItem[];
  trialDays: number | null;
  trialEnd: number | null;
  missingMethod: "cancel" | "create_invoice" | "pause";
  metadata: Metadata;
}

export interface PortalSession {
  id: string;
  object: "billing_portal.session";
  configuration: string;
  created: number;
  customer: string;
  flow: { type: string } | null;
  livemode: false;
  locale: string | null;
  return_url: string | null;
  url: string;
}

export interface StripeEvent {
  id: string;
  object: "event";
  api_version: string;
  created: number;
  data: { object: object; previous_attributes?: Record<string, unknown> };
  livemode: false;
  pending_webhooks: number;
  request: { id: string | null; idempotency_key: string | null };
  type: string;
}
