// Submissions from the door to the published post: accepted once, published once, on time. How to talk to a platform is
// the adapters' business, tokens are the connections'.
export { releaseMedia } from "./media-needs.ts";
export { orchestrateTask } from "./orchestrate.ts";
export { reconcileTask } from "./reconcile.ts";
export { publishTask } from "./publish.ts";
export { publishNetworkRoute } from "./publish-now.ts";
export { postRoutes } from "./routes.ts";
