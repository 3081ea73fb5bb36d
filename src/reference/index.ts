// What the service says of itself: the OpenAPI file made from the schemas that the routes validate with, and a page for
// people rendered from that file. It serves both and changes nothing.
export { describeRoutes, documentedRoutes, servedRoutes } from "./openapi.ts";
export { errorBodySchema } from "./openapi-errors.ts";
export { referenceRoutes } from "./routes.ts";
