// Subscriptions and credits: what a user may use, until when, and how much of it. The payment provider's events drive the
// first, the ledger explains the second. The gate reads subscriptions in its own query.
export { creditRoutes } from "./credit-routes.ts";
export {
  adjust,
  debit,
  expireEnded,
  grantPeriod,
  hold,
  keepHold,
  refund,
  releaseExpiredHolds,
  releaseHold,
} from "./credits.ts";
export { readCredits } from "./credits-read.ts";
export { checkCredits } from "./credits-check.ts";
export { creditsTask } from "./credits-task.ts";
export { endDoublesTask } from "./end-doubles.ts";
export { createBilling } from "./stripe.ts";
export type { Billing } from "./stripe.ts";
export { saveSubscription } from "./queries.ts";
export type { Subscription } from "./queries.ts";
export { billingRoutes } from "./routes.ts";
export { webhookRoute } from "./webhook.ts";
