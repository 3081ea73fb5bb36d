// Data of businesses, for programs that hold a functions key, and the forward of a signed-in user's wish to the workflow
// endpoint. Who may call is a key of the configuration: the room knows nothing of users' posts and accounts.
export { forwardRoute } from "./forward-route.ts";
export { createPost, saveNetworkPost } from "./post-queries.ts";
export { ensureBusiness, saveCompany, saveParticipant } from "./queries.ts";
export { businessRoutes } from "./routes.ts";
