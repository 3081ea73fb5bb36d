// Subscriptions: what a user may use, and until when. The gate reads them in its own query.
export { saveSubscription } from "./queries.ts";
export type { Subscription } from "./queries.ts";
